"""Circuits of heads: QK and OV on the tokens themselves, and their composition."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Literal, Protocol

import torch
from torch import Tensor

from transformer.config import ModelConfig
from transformer.files.tensors import TensorSource
from transformer.models.family import Family
from transformer.refusal import Refusal

# A head's QK and OV circuits on the tokens themselves (Elhage et al. 2021).
#
# With row vectors, W_QK = W_Q W_K^T says how a query meets a key and W_OV = W_V W_O what an
# attended token adds. Between token embeddings W_E and the output W_U both become tables of
# tokens: W_E W_QK W_E^T and W_E W_OV W_U. That is the direct path alone: positions, biases, norms
# and all other layers are left out.

CHUNK = 8192
"""Tokens of a vocabulary that are in double precision at once."""


class CircuitError(Refusal):
    """A head whose matrices are not to be had; the message says in a sentence why."""


@dataclass(frozen=True, eq=False)
class Head:
    """The four matrices of one head, without biases, in double precision."""

    q: Tensor
    """[D, d_key]"""
    k: Tensor
    """[D, d_key]"""
    v: Tensor
    """[D, d_value]"""
    o: Tensor
    """[d_value, D]"""
    scale: float
    """The factor of q·k."""
    left_out: tuple[str, ...] = ()
    """Names of the norms within its attention, as of queries and keys, that no product has."""


@dataclass(frozen=True, eq=False)
class Table:
    """A vector of size D for every token."""

    values: Tensor
    """[V, E], as they were saved."""
    scale: float = 1.0
    project: Tensor | None = None
    """[E, D], where E is not D."""

    def rows(self, ids: Sequence[int] | slice) -> Tensor:
        """Return rows of these tokens, float64 [N, D]. Raises CircuitError for one beyond them."""
        if not isinstance(ids, slice) and max(ids, default=0) >= len(self.values):
            raise CircuitError(f"Token {max(ids)} is beyond the {len(self.values):,} embeddings.")
        chosen = self.values[ids].double() * self.scale
        return chosen if self.project is None else chosen @ self.project


@dataclass(frozen=True, eq=False)
class Ends:
    """The tables that a kind of attention reads, and that read its output."""

    queries: Table | None
    """W_E of the queries; None where they meet keys that are no embeddings (cross)."""
    keys: Table
    """W_E of the keys and values."""
    output: Table
    """W_U transposed."""
    reads_itself: bool
    """True: W_U is W_E transposed, because an encoder writes no tokens."""


class Heads(Protocol):
    """A checkpoint's heads, of which circuits are made. Raises CircuitError where it has none."""

    def n_layers(self, kind: str) -> int:
        """Return how many layers have this kind of attention."""

    def layer(self, kind: str, layer: int) -> Sequence[Head]:
        """Every head of a layer, in order."""

    def ends(self, kind: str) -> Ends:
        """The embeddings as the model reads them, scale included, and the output's matrix."""


class NoHeads:
    """The heads of a checkpoint that keeps none that could be read."""

    def __init__(self, why: str) -> None:
        self._why = why

    def n_layers(self, kind: str) -> int:
        return 0

    def layer(self, kind: str, layer: int) -> Sequence[Head]:
        raise CircuitError(self._why)

    def ends(self, kind: str) -> Ends:
        raise CircuitError(self._why)


def qk(head: Head, ends: Ends, ids: Sequence[int]) -> Tensor:
    """Scores of tokens with each other [N, N], queries in rows. Raises CircuitError for cross."""
    if ends.queries is None:
        raise CircuitError("A cross head's queries and keys are of two stacks: no token form.")
    _require_fit(ends.keys.values.size(1), head)
    return (ends.queries.rows(ids) @ head.q) @ (ends.keys.rows(ids) @ head.k).mT * head.scale


def ov(head: Head, ends: Ends, ids: Sequence[int]) -> Tensor:
    """Compute what attending to a token (row) adds to another's logit (column): [N, N]."""
    _require_fit(ends.keys.values.size(1), head)
    _require_fit(ends.output.values.size(1), head)
    return (ends.keys.rows(ids) @ head.v) @ (head.o @ ends.output.rows(ids).mT)


def _require_fit(width: int, head: Head) -> None:
    """Raise CircuitError where a head reads something else than what the tables hold."""
    d_model = head.v.size(0)
    if width != d_model or head.q.size(0) != d_model:
        raise CircuitError(
            f"No circuits: the embeddings of this model have {width:,} numbers per token and its "
            f"heads read {d_model:,}: a further layer lies between them."
        )


def through_vocabulary(ends: Ends) -> Tensor:
    """W_U W_E, in which the vocabulary is summed over once: [D, D]."""
    n = len(ends.keys.values)
    if n != len(ends.output.values):
        raise CircuitError("What is read and what is written are two vocabularies here.")
    total = torch.zeros((), dtype=torch.float64)
    for start in range(0, n, CHUNK):
        part = slice(start, start + CHUNK)
        total = total + ends.output.rows(part).mT @ ends.keys.rows(part)
    return total


def ov_eigenvalues(head: Head, through: Tensor) -> Tensor:
    """The d_value eigenvalues of W_E W_OV W_U [V, V] that need not be 0: complex [d_value].

    A product's order does not change its eigenvalues but for zeros, so the small
    W_O W_U W_E W_V [d_value, d_value] has them. through: W_U W_E [D, D].
    """
    for width in through.shape:
        _require_fit(width, head)
    return torch.linalg.eigvals(head.o @ through @ head.v)


def copying_score(eigenvalues: Tensor) -> float:
    """sum Re(lambda) / sum |lambda|: 1 where attending to a token raises just that token.

    From -1 to 1 (Elhage et al. 2021, "Detecting copying behavior"); 0 where there is nothing.
    """
    size = float(eigenvalues.abs().sum())
    return float(eigenvalues.real.sum()) / size if size else 0.0


def copying_scores(heads: Heads, kind: str) -> Tensor:
    """The score of every head of a kind: [L, H]."""
    through = through_vocabulary(heads.ends(kind))
    layers = [heads.layer(kind, layer) for layer in range(heads.n_layers(kind))]
    return torch.tensor(
        [[copying_score(ov_eigenvalues(head, through)) for head in layer] for layer in layers],
        dtype=torch.float64,
    )


# Composition of heads: the share of what one writes that another reads (Elhage et al. 2021).
#
# What head a adds to the residual stream is x W_OV^a; head b reads it by its queries or keys
# (W_QK^b), or by its values (W_OV^b). Their composition is ||W_OV^a W^b|| / (||W_OV^a|| ||W^b||)
# in Frobenius norms. Matrices that have nothing to do with each other have 1 / sqrt(d_model).
# Norms, biases and feed-forward layers are left out.

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


# The heads of checkpoints whose tensors have our names, for circuits.


class OurHeads:
    """A model that a ModelConfig describes."""

    def __init__(self, tensors: TensorSource, config: ModelConfig, family: Family) -> None:
        self._tensors, self._config, self._family = tensors, config, family

    def n_layers(self, kind: str) -> int:
        config = self._config
        if kind not in self._family.attentions:  # a decoder by itself has no memory to look at
            return 0
        return config.n_encoder_layers if kind == "encoder_self" else config.n_decoder_layers

    def layer(self, kind: str, layer: int) -> Sequence[Head]:
        config = self._config
        scale = config.score_scale
        if not config.projections:  # the heads split the input itself
            own = torch.eye(config.d_model, dtype=torch.float64)
            matrices = [own, own, own, own]
        else:
            pattern = self._family.attentions[kind] or ""
            place = pattern.replace("*", str(layer)).removesuffix(".dot_product")
            names = (f"{place}.{name}.weight" for name in ("query", "key", "value", "output"))
            matrices = self._read(*names)  # a linear layer's weight is [out, in]
        q, k, v, o = (matrix.double() for matrix in matrices)
        sizes = (config.d_head, config.d_head, config.d_head_value)
        q, k, v = (
            each.unflatten(0, (config.n_heads, size))  # [H, d, D]
            for each, size in zip((q, k, v), sizes, strict=True)
        )
        o = o.unflatten(1, (config.n_heads, config.d_head_value))  # [D, H, d]
        return [Head(q[h].mT, k[h].mT, v[h].mT, o[:, h].mT, scale) for h in range(config.n_heads)]

    def ends(self, kind: str) -> Ends:
        (own,) = self._read("embedding.weight")
        source = own
        if "source_embedding.weight" in self._tensors.stored:
            (source,) = self._read("source_embedding.weight")
        if kind == "encoder_self":
            read = self._embedded(source)
            return Ends(read, read, Table(source), reads_itself=True)
        output = own
        if "output.weight" in self._tensors.stored:
            (output,) = self._read("output.weight")
        is_cross = kind == "cross"
        keys = self._embedded(source if is_cross else own)
        return Ends(None if is_cross else keys, keys, Table(output), reads_itself=False)

    def _embedded(self, table: Tensor) -> Table:
        """Token embeddings as they enter the first layer, positions left out."""
        config = self._config
        scale = config.d_model**0.5 if config.scaled_embeddings else 1.0
        if config.positions != "concatenated":
            return Table(table, scale)
        (project,) = self._read("join.project.weight")  # of [embedding; position]
        return Table(table, scale, project[:, : config.d_model].double().mT)

    def _read(self, *names: str) -> list[Tensor]:
        for name in names:
            if name not in self._tensors.stored:
                raise CircuitError(f"{name} is missing, so circuits cannot be computed.")
        return list(self._tensors.read(*names))
