"""A tokenizer.json, and what the library's class makes of it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from tests.transformer.hugging_face.saving import writer
from transformer import CheckpointError, load_checkpoint

WORDS = ["It", "o", "clock", "x", "naive", "cafe", "Cafe", "naïve", "Café", "it's", "it", "'s"]
SIGNS = ["'", ",", "(", ")", "+", ":", "1", "2", "3", "4", "5"]


def bytes_of(split: Any) -> Tokenizer:
    """Pairs of digits are pieces; with `split`, each digit is one."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {piece: i for i, piece in enumerate(["<s>", *alphabet, "12", "34"])}
    tokenizer = Tokenizer(models.BPE(vocabulary, [("1", "2"), ("3", "4")]))
    of_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, of_bytes]) if split else of_bytes
    return tokenizer


def word_pieces(lowercase: bool) -> Tokenizer:
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = [*special, *WORDS, *SIGNS, *(f"##{piece}" for piece in [*WORDS, *SIGNS])]
    vocabulary = {piece: i for i, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def opened(folder: Path, family: str, tokenizer: Tokenizer, name: str | None) -> tuple[str, Any]:
    """Its notes, and its tokenizer. name: the class that its settings name; None: none do."""
    if not folder.exists():
        writer(family, vocab_size=400).save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {} if name is None else {"tokenizer_class": name}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    checkpoint = load_checkpoint(folder, "cpu")
    return " ".join(checkpoint.about.notes), checkpoint.tokenizer


CASES: dict[str, tuple[str, str | None, Callable[[], Tokenizer], str]] = {
    # SmolLM's: a Llama, whose settings name GPT-2's class, and whose file has digits one by one
    "digits": ("Llama", "GPT2Tokenizer", lambda: bytes_of(pre_tokenizers.Digits(True)), "1, 2"),
    "GPT-2": ("GPT-2", None, lambda: bytes_of(pre_tokenizers.Digits(True)), "1, 2"),
    "cased": ("Llama", "BertTokenizer", lambda: word_pieces(lowercase=False), "It, '"),
    "strange": ("GPT-2", "GPT2Tokenizer", lambda: word_pieces(lowercase=False), "It, '"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_class_that_splits_otherwise_is_named_with_what_follows_the_file(
    case: str, tmp_path: Path
) -> None:
    family, name, make, shown = CASES[case]
    notes, tokenizer = opened(tmp_path / "model", family, make(), name)
    text = "It's 12"
    expected = make().encode(text, add_special_tokens=False).ids
    assert "tokenizer.json by itself splits a text otherwise" in notes and shown in notes
    assert tokenizer.encode(text, "continuation") != expected
    # what the note says to write does follow the file, and then there is nothing to say
    notes, tokenizer = opened(tmp_path / "model", family, make(), "PreTrainedTokenizerFast")
    assert "splits" not in notes and tokenizer.encode(text, "continuation") == expected


def test_a_class_that_splits_alike_is_not_named(tmp_path: Path) -> None:
    notes, _ = opened(tmp_path / "gpt2", "GPT-2", bytes_of(None), "GPT2Tokenizer")
    assert "splits" not in notes
    notes, _ = opened(tmp_path / "lower", "Llama", word_pieces(lowercase=True), "BertTokenizer")
    assert "splits" not in notes


def test_a_class_that_cannot_be_made_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"T5Tokenizer .*PreTrainedTokenizerFast"):
        opened(tmp_path / "model", "T5", bytes_of(None), "T5Tokenizer")
    (tmp_path / "model" / "tokenizer.json").write_text('{"model": ')
    with pytest.raises(CheckpointError, match=r"tokenizer\.json cannot be read: .*line 1"):
        load_checkpoint(tmp_path / "model", "cpu")


def test_a_vocabulary_without_its_merges_is_named(tmp_path: Path) -> None:
    writer("GPT-2").save_pretrained(tmp_path)
    (tmp_path / "vocab.json").write_text('{"a": 0, "b": 1}')
    with pytest.raises(CheckpointError, match=r"merges\.txt is missing"):
        load_checkpoint(tmp_path, "cpu")


def test_halves_of_a_surrogate_pair_are_their_character_or_a_question_mark(tmp_path: Path) -> None:
    _, tokenizer = opened(tmp_path / "gpt2", "GPT-2", bytes_of(None), "GPT2Tokenizer")
    for side in ("source", "prompt", "target"):
        ids = tokenizer.encode("a\ud83d\ude42\ud83d", side)
        assert ids == tokenizer.encode("a🙂?", side) != tokenizer.encode("a??", side)
