"""Translators of many languages are told theirs, and then do as the library does."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import torch

from tests.transformer.watch.hugging_face import FAMILIES
from transformer import Checkpoint, InputError, decode, load_checkpoint, record, translating

LETTERS = "▁abcdefghijklmnopqrstuvwxyz."
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
TEXT = "a cat sat on it."


def mbart(folder: Path) -> Any:
    from transformers import MBartTokenizer

    codes = ["ar_AR", "de_DE", "en_XX", "<mask>"]
    return MBartTokenizer(vocab=[(piece, -2.0) for piece in (*SPECIAL, *LETTERS, *codes)])


def mbart50(folder: Path) -> Any:
    from transformers import MBart50Tokenizer

    codes = ["ar_AR", "de_DE", "en_XX", "<mask>"]
    return MBart50Tokenizer(vocab=[(piece, -2.0) for piece in (*SPECIAL, *LETTERS, *codes)])


def nllb(folder: Path) -> Any:
    from transformers import NllbTokenizer

    pieces = {piece: id for id, piece in enumerate((*SPECIAL, *LETTERS))}
    codes = ["deu_Latn", "eng_Latn"]
    return NllbTokenizer(vocab=pieces, merges=[], extra_special_tokens=codes)


def m2m100(folder: Path) -> Any:
    from transformers import M2M100Tokenizer

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([" ".join(LETTERS[1:])] * 3),
        model_writer=model,
        vocab_size=31,
        model_type="char",
        minloglevel=2,
    )
    folder.mkdir()
    (folder / "spm").write_bytes(model.getvalue())
    (folder / "json").write_text(json.dumps({p: i for i, p in enumerate((*SPECIAL, *LETTERS))}))
    return M2M100Tokenizer(str(folder / "json"), str(folder / "spm"))


MAKERS = {"mBART": mbart, "mBART-50": mbart50, "NLLB": nllb, "M2M100": m2m100}
CODES = {
    "mBART": ("en_XX", "de_DE"),
    "mBART-50": ("en_XX", "de_DE"),
    "NLLB": ("eng_Latn", "deu_Latn"),
    "M2M100": ("en", "de"),
}
each = pytest.mark.parametrize("name", MAKERS)
Open = Callable[[str], Checkpoint]


def save_translator(name: str, folder: Path) -> Path:
    """A small model with random weights, and its tokenizer, as its library saves them."""
    import transformers

    torch.manual_seed(0)
    family = "mBART" if name.startswith("mBART") else "M2M100"
    named, of_config, sizes = FAMILIES[family]
    config = getattr(transformers, of_config)(**sizes | {"vocab_size": 180})
    model = getattr(transformers, named)._from_config(config)
    for parameter in model.parameters():
        parameter.data.mul_(4)
    model.save_pretrained(folder / name)
    MAKERS[name](folder / "made").save_pretrained(folder / name)
    return folder / name


@pytest.fixture
def opened(tmp_path: Path) -> Open:
    """Saved and opened."""
    return lambda name: load_checkpoint(save_translator(name, tmp_path), "cpu")


@each
def test_it_writes_what_the_library_does_when_told_the_languages(name: str, opened: Open) -> None:
    import transformers

    english, german = CODES[name]
    checkpoint = opened(name)
    assert {english, german} <= set(checkpoint.config.languages)
    assert (checkpoint.config.source_language, checkpoint.config.target_language) == (english, None)
    told = translating(checkpoint, german, english)
    theirs = transformers.AutoTokenizer.from_pretrained(checkpoint.path, src_lang=german)
    given = theirs(TEXT, return_tensors="pt")
    decoding = decode(told, TEXT, max_len=4)
    assert [token.id for token in decoding.source] == given["input_ids"][0].tolist()
    token = f"__{english}__" if name == "M2M100" else english
    starts = "decoder_start_token_id" if name == "mBART" else "forced_bos_token_id"
    start = {starts: theirs.convert_tokens_to_ids(token)}
    inner: Any = told.model.get_submodule("inner")
    written = inner.generate(**given, **start, max_new_tokens=4, num_beams=1, do_sample=False)
    n = min(2, len(decoding.target))
    ids = [*told.config.start_ids, *(token.id for token in decoding.target[:n])]
    assert written[0].tolist()[: len(ids)] == ids
    assert told.tokenizer.token(told.config.start_ids[-1]).piece == token


@each
def test_the_language_is_read_and_not_written(name: str, opened: Open) -> None:
    german = CODES[name][1]
    told = translating(opened(name), target_language=german)
    decoding = decode(told, TEXT, "beam", max_len=4)
    recording = record(told, TEXT, decoding.target)
    rows = recording.attentions["decoder_self"]
    n = len(told.config.start_ids)
    assert [token.id for token in rows.queries[:n]] == list(told.config.start_ids)
    assert rows.produced is not None and rows.produced[n - 1 :] == decoding.target
    target = record(told, TEXT, "a mat.").target
    assert "".join(token.piece for token in target) == "▁a▁mat.</s>"


@each
def test_the_one_that_was_told_nothing_stays_as_it_was(name: str, opened: Open) -> None:
    english, german = CODES[name]
    checkpoint = opened(name)
    before = checkpoint.tokenizer.encode(TEXT)
    told = translating(checkpoint, german, german)
    assert told.tokenizer.encode(TEXT) != before
    assert checkpoint.tokenizer.encode(TEXT) == before
    assert translating(told, english).config.target_language == german
    assert next(told.model.parameters()) is next(checkpoint.model.parameters())


def test_what_a_checkpoint_says_of_its_target(opened: Open) -> None:
    german = len(SPECIAL) + len(LETTERS) + 1
    path = opened("mBART-50").path
    file = path / "generation_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"forced_bos_token_id": german}))
    config = load_checkpoint(path, "cpu").config
    assert config.target_language == "de_DE" and config.start_ids == (2, german)


def test_languages_that_are_not_known(opened: Open, text_checkpoint: Checkpoint) -> None:
    with pytest.raises(InputError, match=r"^M2M100 does not know the language 'xx', but af, am, "):
        translating(opened("M2M100"), "xx")
    with pytest.raises(InputError, match="is not told its languages: leave them out"):
        translating(text_checkpoint, "en")


def test_it_writes_as_long_as_there_are_positions(opened: Open) -> None:
    told = translating(opened("mBART-50"), "ar_AR", "de_DE")
    decoding = decode(told, TEXT, max_len=1000)
    assert len(decoding.target) <= told.config.max_len
    assert record(told, TEXT, decoding.target).target == decoding.target


@pytest.mark.parametrize("method", ["greedy", "beam", "sample"])
def test_an_end_that_is_forced_and_forbidden_is_a_sentence(method: str, tmp_path: Path) -> None:
    checkpoint = load_checkpoint(save_translator("mBART-50", tmp_path), "cpu")
    ends = [(id,) for id in checkpoint.config.eos_ids]
    decoding = decode(checkpoint, "cat", method, forbid=ends, max_len=8)
    assert "forbid less" in decoding.ended_by and not decoding.is_ended  # it keeps what it wrote
    assert 0 < len(decoding.target) < 8
