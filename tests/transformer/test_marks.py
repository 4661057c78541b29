"""However a vocabulary marks where words begin, its words and its text are told alike."""

from collections.abc import Callable
from typing import Any

import pytest
import tokenizers
import torch
from tokenizers import decoders, models, pre_tokenizers
from torch import nn
from transformers import PreTrainedTokenizerFast

from transformer import InputError, record
from transformer.hugging_face.tokenizer import HuggingFaceTokenizer
from transformer.marks import BYTES, SPACED, WORDPIECE, WORDS, Marks, byte_alphabet, marks_of
from transformer.own_module.tokenizer import OwnTokenizer, names_of
from transformer.token import Token
from transformer.vocabulary import VocabularyTokenizer
from transformer.words import words_of
from viz.labels import in_words, word_text

GREEK = "".join(
    char for byte in "ό".encode() for char, own in byte_alphabet().items() if own == byte
)

# A text in pieces, · for a space in one; its words, and the text that is written.
WAYS: dict[str, tuple[str, str, str]] = {
    "sentencepiece": ("▁the ▁lo w er .", "the|lower|.", "the lower."),
    "WordPiece": ("[CLS] the lo ##w ##er ' s . [SEP]", "the|lower|'|s|.", "the lower ' s ."),
    "GPT-2": ("the Ġlo w er Ċ Ġthe .", "the|lower|\n|the|.", "the lower\n the."),
    "GPT-2, Greek": (f"the Ġ{GREEK[0]} {GREEK[1]} s", "the|όs", "the όs"),
    "subword-nmt": ("the lo@@ w@@ er . don@@ 't", "the|lower|.|don't", "the lower . don't"),
    "@@ before": ("the lo @@w @@er", "the|lower", "the lower"),
    "joiners": (
        "the (￭ well ￭-￭ known ￭) cat ￭.",
        "the|(|well-known|)|cat|.",
        "the (well-known) cat.",
    ),
    "joiners behind": ("do￭ n￭ 't lo￭ wer ￭, the", "don't|lower|,|the", "don't lower, the"),
    "</w>": ("<s> the</w> lo w er</w> .</w> </s>", "the|lower|.", "the lower ."),
    "CLIP": ("<s> the</w> lo wer</w> 's</w>", "the|lower|'s", "the lower 's"),
    "<w>": ("the<w> lo wer<w>", "the|lower", "the lower"),
    "tensor2tensor": ("the_ lo wer_ ._ cat_", "the|lower|.|cat", "the lower . cat"),
    "words": ("the New·York cat n't", "the|New York|cat|n't", "the New York cat n't"),
    "words and spaces": ("the · cat · sat", "the|cat|sat", "the cat sat"),
    "spaces before": ("the ·lo w er .", "the|lower|.", "the lower."),
    "spaces behind": ("the· lo w er· cat .", "the|lower|cat|.", "the lower cat."),
    "characters": ("t h e · c a t", "the|cat", "the cat"),
    "characters, <unk>": ("<unk> t h e · c a t", "<unk>the|cat", "<unk>the cat"),
    "characters, <space>": ("t h e <space> c a t", "the|cat", "the cat"),
    "characters, </w>": ("t h e </w> c a t", "the|cat", "the cat"),
    "bytes that are missing": ("▁the ▁caf <0xC3> <0xA9> s", "the|cafés", "the cafés"),
    "Japanese": ("▁ 猫 が 好き", "猫|が|好き", "猫が好き"),
    "two words a piece": ("▁of▁the ▁cat s", "of▁the|cats", "of the cats"),
    "signs that are no marks": ("a ## @@ the </b", "a|##|@@|the|</b", "a ## @@ the </b"),
}


def split(pieces: str) -> list[str]:
    return [each.replace("·", " ") for each in pieces.split(" ")]


OPENED: dict[str, Callable[[list[str]], Any]] = {
    "list": lambda pieces: OwnTokenizer(names_of(pieces)),
    "dict": lambda pieces: OwnTokenizer(names_of({piece: i for i, piece in enumerate(pieces)})),
    "vocab.txt": VocabularyTokenizer,
}


@pytest.mark.parametrize("of", OPENED)
@pytest.mark.parametrize("way", WAYS)
def test_words_and_text_of_every_way_to_mark_them(way: str, of: str) -> None:
    pieces, words, text = WAYS[way]
    own = list(dict.fromkeys(split(pieces)))
    tokenizer = OPENED[of](own)
    tokens = [tokenizer.token(own.index(piece)) for piece in split(pieces)]
    plain = [token for token in tokens if not token.special]
    assert words_of(plain) == words.split("|")
    assert tokenizer.decode([token.id for token in tokens]) == text
    if way in ("subword-nmt", "joiners", "</w>"):
        assert all(sign not in "".join(in_words(plain)) for sign in ("@@", "￭", "</w>"))


@pytest.mark.parametrize("way", WAYS)
def test_tokens_that_are_given_beside_a_module_have_the_same_words(way: str) -> None:
    pieces, _, _ = WAYS[way]
    own = split(pieces)
    layer = nn.MultiheadAttention(8, 2, batch_first=True)
    x = torch.randn(1, len(own), 8)
    (attention,) = record(layer, (x, x, x), own).attentions.values()
    assert [token.piece for token in attention.queries] == own
    tokenizer = OPENED["list"](list(dict.fromkeys(own)))
    expected = [tokenizer.token(list(dict.fromkeys(own)).index(piece)) for piece in own]
    if "<space>" not in own and "</w>" not in own:
        assert words_of(attention.queries) == words_of(expected)


@pytest.mark.parametrize(
    ("pieces", "ids", "words", "text"),
    [
        ([*(x.encode() for x in "abc"), b" k"], [0, 1, 3, 2], ["ab", "kc"], "ab kc"),
        ({b"the": 0, b" ca": 2, b"t": 1}, [0, 2, 1], ["the", "cat"], "the cat"),
        ({0: b"the", 1: b"re"}, [0, 1], ["there"], "there"),
        ([bytes([i]) for i in range(256)], list("né☃ a".encode()), ["né", "☃", "a"], "né☃ a"),
        ([b"a", b" \xe2", b"\x98\x83", b"\n"], [0, 1, 2, 3], ["a", "☃", "\n"], "a ☃\n"),
    ],
)
def test_pieces_as_bytes_are_the_text_that_they_spell(
    pieces: Any, ids: list[int], words: list[str], text: str
) -> None:
    tokenizer = OwnTokenizer(names_of(pieces))
    assert words_of([tokenizer.token(id) for id in ids]) == words and tokenizer.decode(ids) == text


def fast(inner: tokenizers.Tokenizer) -> HuggingFaceTokenizer:
    made: Any = PreTrainedTokenizerFast(tokenizer_object=inner, unk_token="<unk>")  # type: ignore[no-untyped-call]
    return HuggingFaceTokenizer(made, inner.get_vocab_size())


def of_pieces(pieces: str, **options: Any) -> models.BPE:
    """Letters, and what `pieces` merges them to."""
    end, before = (
        options.get(f"{it}") or "" for it in ("end_of_word_suffix", "continuing_subword_prefix")
    )
    ids, merges = {"<unk>": 0}, []
    for letter in "thecaslowr":
        for each in (letter, letter + end, before + letter):
            ids.setdefault(each, len(ids))
    for pair in pieces.split():
        first, second = pair.split("+")
        merges.append((first, second))
        ids.setdefault(first + second.removeprefix(before), len(ids))
    return models.BPE(ids, merges, unk_token="<unk>", **options)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (of_pieces("t+h th+e"), ["the", "c", "a", "t"]),  # nothing marks: pieces decide
        (of_pieces("t+h th+e</w>", end_of_word_suffix="</w>"), ["the", "cat"]),
        (of_pieces("t+##h th+##e", continuing_subword_prefix="##"), ["the", "cat"]),
        (of_pieces("t+@@h th+@@e", continuing_subword_prefix="@@"), ["the", "cat"]),
        (models.WordLevel({"<unk>": 0, "the": 1, "cat": 2, "lo@@": 3}, "<unk>"), ["the", "cat"]),
    ],
)
def test_a_tokenizer_json_says_its_marks(model: Any, words: list[str]) -> None:
    inner = tokenizers.Tokenizer(model)
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = fast(inner)
    assert words_of([tokenizer.token(id) for id in tokenizer.encode("the cat")]) == words


def test_words_of_letters_in_a_tokenizer_json_are_words() -> None:
    letters = {each: id for id, each in enumerate(["<unk>", *"the c"])}
    inner = tokenizers.Tokenizer(models.WordLevel(letters, "<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer = fast(inner)
    assert words_of([tokenizer.token(id) for id in tokenizer.encode("the te")]) == ["the", "te"]


def test_a_tokenizer_that_is_given_as_pieces_writes_its_own_text() -> None:
    ids = {"[UNK]": 0, "the": 1, "low": 2, "##er": 3, "'": 4, "s": 5}
    inner = tokenizers.Tokenizer(models.WordPiece(ids, unk_token="[UNK]"))
    inner.decoder = decoders.WordPiece()
    tokenizer = OwnTokenizer(names_of(inner))
    text = tokenizer.decode([1, 2, 3, 4, 5])
    assert text == inner.decode([1, 2, 3, 4, 5]) and "lower" in text
    assert words_of([tokenizer.token(id) for id in (1, 2, 3)]) == ["the", "lower"]
    inner.decoder = None  # type: ignore[assignment]
    assert OwnTokenizer(names_of(inner)).decode([1, 2, 3]) == "the lower" != inner.decode([1, 2, 3])
    with pytest.raises(InputError, match="get_vocab"):
        names_of(7)  # type: ignore[arg-type]


def test_a_word_reads_without_the_signs_of_its_pieces() -> None:
    tokens = [
        Token(0, "lo@@", begins=True, text="lo", ends=False),
        Token(1, "wer", begins=True),
        Token(2, "the</w>", begins=True, text="the"),
    ]
    assert word_text(tokens[:2]) == "lower" and word_text(tokens[2:]) == "the"
    assert in_words(tokens) == ["lo in lower", "wer in lower", "the"]


@pytest.mark.parametrize(
    ("pieces", "text", "expected"),
    [
        ("▁the ▁cat s", "the cat", "▁the ▁cat"),
        ("▁the ▁cat s", "▁the ▁cat s", "▁the ▁cat s"),
        ("the Ġcat Ġthe", "the cat the", "the ▁cat ▁the"),
        ("the Ġcat Ġthe", "▁the ▁cat", "▁the ▁cat"),
        ("the</w> c at</w>", "the the", "the</w> the</w>"),
        ("the</w> c at</w> c</w>", "the</w> c at</w>", "the</w> c at</w>"),
        ("the c@@ at", "the c@@ at", "the c@@ at"),
    ],
)
def test_a_list_of_pieces_reads_whole_words_and_text_that_is_split(
    pieces: str, text: str, expected: str
) -> None:
    tokenizer = VocabularyTokenizer([*pieces.split(), "<unk>"])
    assert [tokenizer.token(id).piece for id in tokenizer.encode(text)] == expected.split()


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (["[CLS]", "the", "cat", "##s", "##ed", "▁"], WORDPIECE),  # as multilingual BERT's
        (["▁the", "▁cat", "##", "s", "@@"], SPACED),
        (["Ġthe", "Ġcat", "##a", "s@@", "Ġ"], BYTES),
        ([*byte_alphabet(), "th", "the"], BYTES),
        (["▁the", "▁cat", *byte_alphabet()], SPACED),
        (["the", "snake_", "cat", "dog", "sat"], WORDS),
        (["C##", "the", "cat"], WORDS),
    ],
)
def test_the_sign_of_most_pieces_is_the_mark(pieces: list[str], expected: Marks) -> None:
    assert marks_of(pieces) == expected
