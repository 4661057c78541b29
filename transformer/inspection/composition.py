"""Composition of heads: the share of what one writes that another reads (Elhage et al. 2021).

What head a adds to the residual stream is x W_OV^a; head b reads it by its queries or keys
(W_QK^b), or by its values (W_OV^b). Their composition is ||W_OV^a W^b|| / (||W_OV^a|| ||W^b||) in
Frobenius norms. Matrices that have nothing to do with each other have 1 / sqrt(d_model). Norms,
biases and feed-forward layers are left out.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Literal

import torch
from torch import Tensor

from transformer.inspection.circuits import Head, Heads

Side = Literal["queries", "keys", "values"]
Place = tuple[str, int, int]
KINDS = ("encoder_self", "decoder_self", "cross")


@dataclass(frozen=True)
class Composition:
    """A head that reads what another one writes."""

    writer: Place
    reader: Place
    side: Side
    """The side of the reader that reads it."""
    strength: float
    """From 0 to 1."""
    chance: float
    """The strength of matrices that have nothing to do with each other."""


def compositions(heads: Heads, place: Place) -> tuple[list[Composition], list[Composition]]:
    """The head as a reader of all heads before it, and as a writer: the strongest first.

    Raises CircuitError where its matrices are not to be had.
    """
    own = _head(heads, place)
    before = [
        _composition(other, at, own, place, side)
        for at, other in _all(heads)
        for side in _sides(at, place)
    ]
    after = [
        _composition(own, place, other, at, side)
        for at, other in _all(heads)
        for side in _sides(place, at)
    ]
    return _sorted(before), _sorted(after)


def _all(heads: Heads) -> Iterator[tuple[Place, Head]]:
    for kind in KINDS:
        for layer in range(heads.n_layers(kind)):
            for head, each in enumerate(heads.layer(kind, layer)):
                yield (kind, layer, head), each


def _head(heads: Heads, place: Place) -> Head:
    kind, layer, head = place
    return heads.layer(kind, layer)[head]


def _sides(writer: Place, reader: Place) -> tuple[Side, ...]:
    """The sides of the reader that are computed of a stream into which the writer has written."""
    (wrote, w_layer, _), (reads, r_layer, _) = writer, reader
    of_memory = wrote == "encoder_self"
    if reads == "cross":
        if of_memory:
            return "keys", "values"
        is_before = w_layer < r_layer or (wrote == "decoder_self" and w_layer == r_layer)
        return ("queries",) if is_before else ()
    if of_memory != (reads == "encoder_self") or w_layer >= r_layer:
        return ()
    return "queries", "keys", "values"


def _composition(writer: Head, wrote: Place, reader: Head, reads: Place, side: Side) -> Composition:
    sides = {
        "queries": (reader.q, reader.k.mT),
        "keys": (reader.k, reader.q.mT),
        "values": (reader.v, reader.o),
    }
    first, second = sides[side]
    size = _norm(writer.v, writer.o) * _norm(first, second)
    strength = _norm(writer.v, writer.o @ first @ second) / size if size else 0.0
    return Composition(wrote, reads, side, strength, 1 / sqrt(first.size(0)))


def _norm(left: Tensor, right: Tensor) -> float:
    """The Frobenius norm of left @ right, [D, d] and [d, D], by products of d x d."""
    return float(torch.sum((left.mT @ left) * (right @ right.mT)).clamp_min(0).sqrt())


def _sorted(some: list[Composition]) -> list[Composition]:
    return sorted(some, key=lambda each: -each.strength)
