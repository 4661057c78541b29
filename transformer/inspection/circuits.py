"""A head's QK and OV circuits on the tokens themselves (Elhage et al. 2021).

With row vectors, W_QK = W_Q W_K^T says how a query meets a key and W_OV = W_V W_O what an attended
token adds. Between token embeddings W_E and the output W_U both become tables of tokens:
W_E W_QK W_E^T and W_E W_OV W_U. That is the direct path alone: positions, biases, norms and all
other layers are left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from transformer.refusal import Refusal

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
