"""Composition of heads: the share of what one writes that another reads (Elhage et al. 2021).

What head a adds to the residual stream is x W_OV^a; head b reads it by its queries or keys
(W_QK^b), or by its values (W_OV^b). Their composition is ||W_OV^a W^b|| / (||W_OV^a|| ||W^b||) in
Frobenius norms. Matrices that have nothing to do with each other have 1 / sqrt(d_model). Norms,
biases and feed-forward layers are left out.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
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


def compositions(
    heads: Heads, place: Place, every: Iterable[tuple[Place, "Products"]] | None = None
) -> tuple[list[Composition], list[Composition]]:
    """The head as a reader of all heads before it, and as a writer: the strongest first.

    every: `products_of` the heads, where somebody keeps them. Raises CircuitError where its
    matrices are not to be had.
    """
    own = Products(_head(heads, place))
    before, after = list[Composition](), list[Composition]()
    for at, other in products_of(heads) if every is None else every:
        before += (_composition(other, at, own, place, side) for side in _sides(at, place))
        after += (_composition(own, place, other, at, side) for side in _sides(place, at))
    return _sorted(before), _sorted(after)


def products_of(heads: Heads) -> Iterator[tuple[Place, "Products"]]:
    """Every head with what its compositions are made of. Raises CircuitError."""
    for kind in KINDS:
        for layer in range(heads.n_layers(kind)):
            for head, each in enumerate(heads.layer(kind, layer)):
                yield (kind, layer, head), Products(each)


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


class Products:
    """The products of a head's matrices that norms are made of: a pair of heads has d x d alone."""

    def __init__(self, head: Head) -> None:
        self._head = head
        self.n_bytes = sum(each.nbytes for each in (head.q, head.k, head.v, head.o))
        self._sides: dict[Side, tuple[Tensor, Tensor, float]] = {}

    @cached_property
    def writes(self) -> tuple[Tensor, Tensor, float]:
        """W_O, W_V^T W_V and ||W_OV||."""
        v, o = self._head.v, self._head.o
        square = v.mT @ v
        return o, square, _root(square, o @ o.mT)

    def reads(self, side: Side) -> tuple[Tensor, Tensor, float]:
        """Both matrices of the product W that a side reads by: F, S^T S and ||W|| of W = F S^T."""
        if side not in self._sides:
            head = self._head
            first, second = {
                "queries": (head.q, head.k),
                "keys": (head.k, head.q),
                "values": (head.v, head.o.mT),
            }[side]
            square = second.mT @ second
            self._sides[side] = first, square, _root(first.mT @ first, square)
        return self._sides[side]


def _composition(
    writer: Products, wrote: Place, reader: Products, reads: Place, side: Side
) -> Composition:
    o, values, written = writer.writes
    first, second, read = reader.reads(side)
    between, size = o @ first, written * read
    strength = _root(values, between @ second @ between.mT) / size if size else 0.0
    return Composition(wrote, reads, side, strength, 1 / sqrt(first.size(0)))


def _root(left: Tensor, right: Tensor) -> float:
    """||A B|| in the Frobenius norm, of A^T A and B B^T: the root of their elementwise product."""
    return float(torch.sum(left * right).clamp_min(0).sqrt())


def _sorted(some: list[Composition]) -> list[Composition]:
    return sorted(some, key=lambda each: -each.strength)
