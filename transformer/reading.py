"""read(): how an attention is put on screen: through which lens, and what its rows and columns are.

Every picture of heads takes the AttentionMap that this gives, and never asks how it was made.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import torch
from torch import Tensor

from transformer.discover import discover
from transformer.lenses.lens import Lens
from transformer.recording import Attention, Recording
from transformer.tokenizer import Token

Group = tuple[int, ...]
"""Positions that one row or column stands for."""


@dataclass(frozen=True)
class Reading:
    """What a reader chose: small and frozen, part of a cache's key."""

    lens: str = "weight"
    rows: Literal["produced", "read"] = "produced"
    """Of cross-attention: the token that a row was about to write, or the one it had just read."""
    words: bool = False
    """Whether pieces are merged to words."""
    special: Literal["shown", "hidden", "renormalised"] = "shown"
    """Special tokens: shown; left out; or left out and each row divided by what remains of it."""


@dataclass(frozen=True, eq=False)
class AttentionMap:
    """One kind of attention, as it is read: values [H, R, C] for each layer."""

    recording: Recording
    kind: str
    reading: Reading
    lens: Lens
    rows: tuple[Token, ...]
    """R labels; a word is a Token with the id of its first piece."""
    columns: tuple[Token, ...]
    row_groups: tuple[Group, ...]
    """The query positions that each row stands for."""
    column_groups: tuple[Group, ...]
    """The key positions that each column stands for."""
    is_produced: bool
    """Whether rows are named by the token that they wrote, instead of the one they read."""
    notes: tuple[str, ...] = field(default=())
    """What was merged, left out or renormalised: said beside every picture."""

    @property
    def attention(self) -> Attention:
        return self.recording.attentions[self.kind]

    @property
    def n_layers(self) -> int:
        return self.attention.n_layers

    @property
    def n_heads(self) -> int:
        """1 where a lens makes one map of a whole layer."""
        return self.attention.n_heads if self.lens.per_head else 1

    def values(self, layer: int, head: int | None = None) -> Tensor:
        """[H, R, C], or one head's [R, C]; float32 on the CPU. One map stands for every head."""
        values = self._arranged(self.lens.compute(self.recording, self.kind, layer))
        return values if head is None else values[min(head, self.n_heads - 1)]

    def allowed(self, layer: int) -> Tensor:
        """bool [H, R, C]: a cell is masked only where every cell that it stands for is."""
        allowed = self.attention.allowed(layer)[: self.n_heads].float()
        merged = _merge(_merge(allowed, self.column_groups, -1, "max"), self.row_groups, -2, "max")
        return merged > 0

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """The two ends of the colour scale, the same for all layers and heads of this kind."""
        if self.lens.scale == "share":
            return 0.0, 1.0
        largest = max(float(self.values(layer).abs().max()) for layer in range(self.n_layers))
        bound = largest or 1.0
        return (-bound if self.lens.scale == "signed" else 0.0), bound

    def _arranged(self, values: Tensor) -> Tensor:
        """[H, Q, K] -> [H, R, C]: keys merged, queries averaged, then rows renormalised."""
        values = _merge(values, self.column_groups, -1, self.lens.merge)
        values = _merge(values, self.row_groups, -2, "mean")
        if self.reading.special != "renormalised" or self.lens.scale != "share":
            return values
        sums = values.sum(-1, keepdim=True)
        return torch.where(sums > 0, values / sums, values)


def read(recording: Recording, kind: str, reading: Reading = Reading()) -> AttentionMap:
    """The map of one kind of attention. Raises ValueError, in a sentence, where a lens refuses."""
    lens = lenses()[reading.lens]
    refusal = lens.why_not(recording, kind)
    if refusal:
        raise ValueError(refusal)
    attention = recording.attentions[kind]
    is_produced = writes(attention) and reading.rows == "produced"
    queries = attention.produced if is_produced and attention.produced else attention.queries
    rows, columns = _groups(queries, reading), _groups(attention.keys, reading)
    return AttentionMap(
        recording=recording,
        kind=kind,
        reading=reading,
        lens=lens,
        rows=tuple(_name(queries, group) for group in rows),
        columns=tuple(_name(attention.keys, group) for group in columns),
        row_groups=rows,
        column_groups=columns,
        is_produced=is_produced,
        notes=_notes(reading, lens),
    )


def lenses() -> dict[str, Lens]:
    """name -> lens, for all that there are."""
    return discover("transformer.lenses", "LENS")


def writes(attention: Attention) -> bool:
    """Whether a row may be named by what it wrote: in cross-attention, whose sides differ."""
    return attention.produced is not None and attention.queries != attention.keys


def _groups(tokens: Sequence[Token], reading: Reading) -> tuple[Group, ...]:
    """Which positions stand together; special tokens may be left out."""
    return tuple(
        (i,) for i, token in enumerate(tokens) if reading.special == "shown" or not token.special
    )


def _name(tokens: Sequence[Token], group: Group) -> Token:
    first = tokens[group[0]]
    if len(group) == 1:
        return first
    return Token(first.id, "".join(tokens[i].piece for i in group), first.special)


def _notes(reading: Reading, lens: Lens) -> tuple[str, ...]:
    notes = []
    if reading.special == "hidden":
        notes.append("special tokens hidden: rows sum to less than 1")
    if reading.special == "renormalised":
        notes.append("special tokens hidden, rows renormalised")
    return tuple(notes)


def _merge(
    values: Tensor, groups: Sequence[Group], axis: int, how: Literal["sum", "max", "mean"]
) -> Tensor:
    """One slice for each group of slices along an axis."""
    members = [i for group in groups for i in group]
    if members == list(range(values.size(axis))) and len(groups) == len(members):
        return values
    picked = values.index_select(axis, torch.tensor(members, dtype=torch.long))
    if len(groups) == len(members):
        return picked
    along = [1] * values.dim()
    along[axis] = -1
    number = torch.tensor([n for n, group in enumerate(groups) for _ in group]).view(along)
    shape = list(values.shape)
    shape[axis] = len(groups)
    merged = values.new_zeros(shape)
    if how == "max":
        return merged.scatter_reduce_(
            axis, number.expand_as(picked), picked, "amax", include_self=False
        )
    merged.scatter_add_(axis, number.expand_as(picked), picked)
    sizes = torch.tensor([len(group) for group in groups]).view(along)
    return merged / sizes if how == "mean" else merged
