"""What is forced or forbidden is words of a text, however a tokenizer marks where they begin."""

import io
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import sentencepiece
import tokenizers
import torch
from tokenizers import decoders, models, normalizers, pre_tokenizers
from torch import Tensor, nn
from transformers import PreTrainedTokenizerFast

from transformer import Checkpoint, decode, from_module
from transformer.decoding.constraints import Bars, constraints_of
from transformer.decoding.phrases import phrases_of
from transformer.hugging_face.tokenizer import HuggingFaceTokenizer
from transformer.own_module.tokenizer import OwnTokenizer
from transformer.tokenizer import Tokenizer
from transformer.vocabulary import SentencePieceVocabulary
from transformer.words import words_of

SPECIAL = ["<unk>", "</s>"]
WORDS = ["dog", "cat", "the", "hot", "dogs", "hotdog"]


def bpe(words: list[str], before: str = "", **options: Any) -> models.BPE:
    """Byte-pair encoding that knows letters, and these words whole, with and without a sign."""
    end = options.get("end_of_word_suffix", "")
    pieces, merges = dict[str, int](), []
    for each in [*SPECIAL, *"abcdefghijklmnopqrstuvwxyz(.", *([before] if before else [])]:
        pieces.setdefault(each, len(pieces))
        pieces.setdefault(each + end, len(pieces))
    for word in [*words, *(before + word for word in words if before)]:
        parts = [*word[:-1], word[-1] + end]
        while len(parts) > 1:
            merges.append((parts[0], parts[1]))
            parts[:2] = ["".join(parts[:2])]
            pieces.setdefault(parts[0], len(pieces))
    return models.BPE(pieces, list(dict.fromkeys(merges)), unk_token="<unk>", **options)


def byte_level(prefix: bool = False) -> tokenizers.Tokenizer:
    """GPT-2's (`prefix` False), and RoBERTa's as some train it."""
    inner = tokenizers.Tokenizer(bpe(WORDS, "Ġ"))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    inner.decoder = decoders.ByteLevel()
    return inner


def metaspace(scheme: str) -> tokenizers.Tokenizer:
    """Sentencepiece's: "never" is add_dummy_prefix off; "first" is Llama's of today."""
    inner = tokenizers.Tokenizer(bpe(WORDS, "▁"))
    inner.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme)
    inner.decoder = decoders.Metaspace(prepend_scheme=scheme)
    return inner


def ends_of_words() -> tokenizers.Tokenizer:
    inner = tokenizers.Tokenizer(bpe(WORDS, end_of_word_suffix="</w>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    inner.decoder = decoders.BPEDecoder("</w>")
    return inner


def word_pieces() -> tokenizers.Tokenizer:
    pieces = [*SPECIAL, *WORDS, "s", "##dog", "##s", "do", "##g", "ca", "(", "."]
    ids = {piece: id for id, piece in enumerate(pieces)}
    inner = tokenizers.Tokenizer(models.WordPiece(ids, unk_token="<unk>"))
    inner.normalizer = normalizers.BertNormalizer()
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.decoder = decoders.WordPiece()
    return inner


def characters() -> tokenizers.Tokenizer:
    ids = {piece: id for id, piece in enumerate([*SPECIAL, *" acdeghosttn(.x"])}
    inner = tokenizers.Tokenizer(models.WordLevel(ids, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    inner.decoder = decoders.Fuse()
    return inner


KINDS: dict[str, Callable[[], tokenizers.Tokenizer]] = {
    "byte level": byte_level,
    "byte level, prefixed": lambda: byte_level(True),
    "metaspace always": lambda: metaspace("always"),
    "metaspace never": lambda: metaspace("never"),
    "metaspace first": lambda: metaspace("first"),
    "</w>": ends_of_words,
    "##": word_pieces,
    "characters": characters,
}


class Wishes(nn.Module):
    """Writes what it likes best, whatever it has read."""

    def __init__(self, likes: Tensor) -> None:
        super().__init__()
        self.likes = nn.Buffer(likes)

    def forward(self, *ids: Tensor) -> Tensor:
        return self.likes.expand(1, ids[-1].size(-1), -1)


@cache
def tokenizer_of(kind: str) -> Tokenizer:
    inner, fast = KINDS[kind](), PreTrainedTokenizerFast
    made: Any = fast(tokenizer_object=inner, unk_token="<unk>", eos_token="</s>")  # type: ignore[no-untyped-call]
    return HuggingFaceTokenizer(made, inner.get_vocab_size())


def liking(kind: str, text: str, writes: Any = "continuation") -> Checkpoint:
    """A model that writes pieces of this text, the longest first, and others by their number."""
    tokenizer = tokenizer_of(kind)
    tokens = [tokenizer.token(id) for id in range(tokenizer.vocab_size)]
    plain = [it.piece.strip(" ▁").removeprefix("##").removesuffix("</w>") for it in tokens]
    likes = torch.tensor(
        [len(it) + 9.0 if it and it in text else -0.01 * i for i, it in enumerate(plain)]
    )
    likes[: len(SPECIAL)] = -1000
    names = list(map(str, range(tokenizer.vocab_size)))
    start = 0 if writes == "target" else None
    read = tokenizer.encode
    made = from_module(Wishes(likes), read, names, "the", writes=writes, start=start, end=1)
    return replace(made, tokenizer=tokenizer)


def written(checkpoint: Checkpoint, prompt: str, **how: Any) -> list[list[str]]:
    """The words of all texts that it writes, with the prompt that they go on from."""
    decoding = decode(checkpoint, prompt, "beam", beam_size=4, **how)
    token = checkpoint.tokenizer.token
    before = decoding.source if checkpoint.family.continues else ()
    return [words_of([*before, *map(token, each.ids)]) for each in decoding.hypotheses]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "characters"])
def test_a_forbidden_word_is_written_nowhere(kind: str) -> None:
    """Nor a longer one that begins with it; without the rule it is all that is written."""
    checkpoint = liking(kind, "dogs")
    length = {"max_len": 8}
    assert any("dog" in word for text in written(checkpoint, "the cat", **length) for word in text)
    for text in written(checkpoint, "the cat", forbid=["dog"], **length):
        assert not [word for word in text if word.startswith("dog")], text


@pytest.mark.parametrize("kind", KINDS)
def test_a_forced_word_stands_by_itself(kind: str) -> None:
    checkpoint = liking(kind, "hotdogs")
    for text in written(checkpoint, "hot cat", force=["the"], max_len=8):
        assert "the" in text


@pytest.mark.parametrize("kind", ["byte level", "metaspace never", "##", "</w>", "characters"])
def test_a_target_may_begin_with_a_forced_word(kind: str) -> None:
    """There it has no space before it, and behind another word it has one."""
    first = liking(kind, "the", "target")
    assert written(first, "cat", force=["the"], max_len=3)[0][0] == "the"
    for text in written(first, "cat", force=["the"], prefix="hot", max_len=9):
        assert "the" in text


@cache
def sentence_pieces(**options: Any) -> SentencePieceVocabulary:
    """A model that sentencepiece trained."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["the hot dog sat", "the cat", "a dog", "the hot cat"] * 20),
        model_writer=model,
        **{"vocab_size": 30, "hard_vocab_limit": False, "minloglevel": 2, **options},
    )
    return SentencePieceVocabulary(model.getvalue())


@pytest.mark.parametrize(
    ("options", "places"),
    [
        ({}, {"word"}),
        ({"add_dummy_prefix": False}, {"behind", "beginning"}),
        ({"treat_whitespace_as_suffix": True}, {"word"}),
        ({"model_type": "char"}, {"word"}),
        ({"model_type": "char", "add_dummy_prefix": False}, {"behind", "beginning"}),
        ({"model_type": "bpe", "byte_fallback": True, "vocab_size": 290}, {"word"}),
    ],
)
def test_each_way_of_sentencepiece_spells_a_phrase_as_words(
    options: dict[str, Any], places: set[str]
) -> None:
    tokenizer = sentence_pieces(**options)
    names, likes = list(map(str, range(tokenizer.vocab_size))), torch.zeros(tokenizer.vocab_size)
    made = from_module(Wishes(likes), tokenizer.encode, names, "the", writes="continuation")
    checkpoint = replace(made, tokenizer=tokenizer)
    (ids,) = constraints_of(checkpoint, 1, force=["dog"]).force
    every = phrases_of(checkpoint, [ids], tokenizer.encode("the"))
    assert {each.place for each in every.spellings} == places
    before = tokenizer.encode("the")
    token = tokenizer.token
    assert words_of([*map(token, before), *map(token, ids)]) == ["the", "dog"]
    bars, within = Bars([ids], tokenizer), tokenizer.encode("hotdog")
    if not {*ids} & {*within}:  # a token itself is forbidden everywhere
        assert all(within[n] not in bars(within[:n]) for n in range(len(within)))
    behind = tokenizer.encode("the (dog" if "(" in tokenizer.pieces else "the dog")
    assert any(behind[n] in bars(behind[:n]) for n in range(len(behind)))


def barred(tokenizer: Tokenizer, before: str, forbid: str) -> set[str]:
    """The pieces that may not follow a text, where a word is forbidden."""
    ids = tokenizer.encode(forbid, "continuation")
    return {
        tokenizer.token(id).piece
        for id in Bars([ids], tokenizer)(tokenizer.encode(before, "continuation"))
    }


@pytest.mark.parametrize(
    ("kind", "before", "never", "may"),
    [
        ("metaspace always", "the", {"▁dog", "▁dogs"}, {"dog", "▁hotdog"}),
        ("metaspace always", "the(", {"▁dog", "dog", "dogs"}, {"▁hotdog"}),
        ("metaspace always", "the do", {"g", "▁dog"}, {"dog"}),
        ("byte level", "hot(", {"▁dog", "dog", "dogs"}, {"hotdog"}),
        ("##", "the", {"dog", "dogs"}, {"##dog", "hotdog"}),
        ("##", "do", {"##g", "dog"}, {"##dog"}),
        ("</w>", "the", {"dog</w>", "dogs</w>", "dog"}, {"hotdog</w>"}),
        ("characters", "the do", {"g"}, {"d"}),
        ("characters", "hotdo", set(), {"d"}),
    ],
)
def test_a_word_is_forbidden_where_one_begins(
    kind: str, before: str, never: set[str], may: set[str]
) -> None:
    pieces = barred(tokenizer_of(kind), before, "dog")
    assert pieces >= never and not pieces & may


def test_bytes_of_a_forbidden_word_are_forbidden_too() -> None:
    pieces = [b"the", b" caf", b"\xc3", b"\xa9", "é".encode(), " café".encode(), b" \xc3"]
    checkpoint = from_module(Wishes(torch.zeros(7)), list, pieces, "t", writes="continuation")
    bars = Bars([[5]], checkpoint.tokenizer)
    assert bars([0]) == {5} and bars([0, 1]) == {4, 5} and bars([0, 1, 2]) == {3, 5}


def test_words_that_are_joined_by_marks_are_forbidden_by_their_text() -> None:
    own = OwnTokenizer(["lo@@", "w@@", "er", "low", "lower", "the@@", "er@@"])
    bars = Bars([[0, 2]], own)  # loer, in whatever pieces
    assert bars([3, 0]) == {2, 6} and bars([5, 0]) == {2}  # as it was given, it is everywhere
    assert Bars([[4]], own)([3, 0, 1]) == {2, 4, 6} and Bars([[4]], own)([5, 0, 1]) == {4}


def test_no_space_is_needed_before_a_forced_word_of_a_script_without_spaces() -> None:
    ids = {piece: id for id, piece in enumerate([*SPECIAL, "▁", "猫", "犬", "が", "▁猫"])}
    inner = tokenizers.Tokenizer(models.BPE(ids, [("▁", "猫")], unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Metaspace()
    fast: Any = PreTrainedTokenizerFast
    tokenizer = HuggingFaceTokenizer(fast(tokenizer_object=inner, unk_token="<unk>"), 7)
    likes = torch.tensor([-99.0, -99, -9, 0, 1, 3, -9])
    made = from_module(Wishes(likes), tokenizer.encode, [*"0123456"], "犬", writes="continuation")
    checkpoint = replace(made, tokenizer=tokenizer)
    assert constraints_of(checkpoint, 1, force=["猫"]).force == ((6,),)
    texts = [it.ids for it in decode(checkpoint, "犬", "beam", force=["猫"], max_len=3).hypotheses]
    assert texts[0].count(3) == 1 and 6 not in texts[0]
