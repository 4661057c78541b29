"""Whatever the library returns says in a line what it is: a notebook shows a cell's last value."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cached_property
from typing import Any

import pytest
import torch
from torch import nn

from transformer import (
    Checkpoint,
    align,
    decode,
    evidence,
    from_module,
    load_checkpoint,
    record,
    survey,
)
from transformer.analysis.ablation import sweep
from transformer.analysis.patching import patching
from transformer.analysis.reading import Reading
from transformer.causes.contrast import contrast
from transformer.checkpoint import shipped_path
from transformer.corpus.labels import labels
from transformer.in_a_line import keys_in_a_line, line
from transformer.refusal import Refusal
from transformer.token import Token

TEXT = "The rain in 1994."
LONGEST = 200
FEW = 4
"""Items of a tuple or a mapping that are looked at; the others are like them."""


def opened(name: str) -> Checkpoint:
    return load_checkpoint(shipped_path(name), "cpu")


class Reads(nn.Module):
    """An encoder of one layer that gives states."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(5, 8)
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.layer(self.embedding(ids))
        return result


def translator() -> Iterator[Any]:
    checkpoint = opened("en-de-small")
    yield checkpoint
    decoding = decode(checkpoint, TEXT, "beam", beam_size=2)
    yield decoding
    yield record(checkpoint, TEXT, decoding.target)
    yield evidence(checkpoint, TEXT)
    surveyed = survey(checkpoint, [TEXT] * 20)
    yield surveyed
    yield labels(surveyed)
    yield align(checkpoint, ["In 1994 it rains."])
    yield sweep(checkpoint, TEXT, decoding.target)
    yield next(patching(checkpoint, "The cat sleeps.", "The dog sleeps."))
    yield contrast(checkpoint, TEXT, decoding.target, 0, "Ein")
    yield Reading()


def classifier() -> Iterator[Any]:
    for name in ("sentiment", "sentiment-mean"):
        checkpoint = opened(name)
        yield checkpoint
        yield record(checkpoint, "A bad film.")
    yield evidence(checkpoint, "A bad film.")
    yield sweep(checkpoint, "A bad film.", edits=["head-off:encoder_self.0.1"])


def generator() -> Iterator[Any]:
    checkpoint = opened("everyday")
    decoding = decode(checkpoint, "The", max_len=3)
    yield decoding
    yield record(checkpoint, "The", decoding.target)


def module() -> Iterator[Any]:
    tokenize = lambda text: [int(piece) for piece in text.split()]  # noqa: E731
    checkpoint = from_module(Reads().eval(), tokenize, list("abcde"))
    yield checkpoint
    yield record(checkpoint, "1 2 3")


def reached(values: Iterator[Any]) -> Iterator[tuple[str, Any]]:
    """Every value of ours that these lead to, and the way there."""
    left = [(type(value).__name__, value) for value in values]
    reached: dict[int, Any] = {}  # it holds them, as the place of a lost one is used again
    while left:
        way, value = left.pop()
        if id(value) in reached or isinstance(value, str | nn.Module | torch.Tensor | type):
            continue
        reached[id(value)] = value
        is_ours = type(value).__module__.partition(".")[0] == "transformer"
        if is_ours:
            yield way, value
            left += [(f"{way}.{name}", each) for name, each in members(value)]
        if isinstance(value, Mapping):
            left += [(f"{way}[{key!r:.20}]", value[key]) for key in list(value)[:FEW]]
        elif isinstance(value, Sequence | frozenset):
            left += [(f"{way}[{i}]", each) for i, each in enumerate(list(value)[:FEW])]


def members(value: Any) -> Iterator[tuple[str, Any]]:
    """Public fields and properties; those that it does not have are refused."""
    names = [each.name for each in fields(value)] if is_dataclass(value) else []
    for name, member in ((it, getattr(type(value), it, None)) for it in dir(type(value))):
        names += [name] * isinstance(member, property | cached_property)
    for name in names:
        try:
            yield name, None if name.startswith("_") else getattr(value, name)
        except (Refusal, IndexError):  # an edit's key, where it has none
            continue


@pytest.mark.parametrize("values", [translator, classifier, generator, module])
def test_every_value_fits_into_a_line(values: Any) -> None:
    kinds = set()
    for way, value in reached(values()):
        said = repr(value)
        kinds.add(type(value).__name__)
        assert 0 < len(said) <= LONGEST, f"{way}: {len(said)} characters: {said[:300]}"
        assert said.isprintable(), way
        assert not re.search(r"tensor\(|\b0x[0-9a-f]{6}", said), f"{way}: {said}"
    assert len(kinds) > 10


def test_a_line_has_facts() -> None:
    checkpoint = opened("en-de-small")
    decoding = decode(checkpoint, TEXT)
    recording = record(checkpoint, TEXT, decoding.target)
    n = len(recording.source)
    expected = {
        repr(checkpoint): ["en-de-small", "cpu"],
        repr(decoding): [decoding.text, f"{decoding.log_prob:.3f}"],
        repr(decoding.hypotheses[0]): [f"[{len(decoding.target)}, 4000]"],
        repr(recording): [str(n), str(len(recording.target)), "cross 3 x 4"],
        repr(recording.attentions): ["encoder_self", "cross"],
        repr(recording.attentions["cross"]): ["cross", "3 layers", "4 heads"],
        repr(recording.positions["source"]): [f"{n} entries", "[256, 128]", "sinusoidal"],
        repr(evidence(checkpoint, TEXT)): ["source words", "nats"],
        repr(survey(checkpoint, [TEXT])): ["36 heads", "1 sentence"],
    }
    for said, facts in expected.items():
        for fact in facts:
            assert fact in said


def test_strange_words_stay_in_the_line() -> None:
    piece = "a\nb\u202e" + "c" * 5000
    said = line(Token(1, piece, text="\ud800"))
    assert said.isprintable() and len(said) <= LONGEST
    assert len(keys_in_a_line({f"{i} {piece}": i for i in range(99)})) <= LONGEST
