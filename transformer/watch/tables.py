"""Tables of positions: rows of a table that meet a sequence, one for each place in it.

What tells positions from other rows is which of them were taken: one after the other. They come
from an embedding (GPT-2, BERT), from index_select (M2M100) or are a slice of a parameter or buffer
(the Annotated Transformer).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from transformer.positions.encodings import find_pairs
from transformer.recording import PositionalEncoding
from transformer.tokenizer import Token
from transformer.watch.seen import storage

_ENOUGH = 16
"""Rows by which sinusoids are told from what was learned."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows taken from a table."""

    table: Tensor
    """[P, D]"""
    ids: Tensor
    """Which rows; any shape, T of them."""


@dataclass(frozen=True, eq=False)
class Added:
    """Rows as they were added to a sequence."""

    rows: Rows
    sequence: Tensor
    """What they were added to [T, D], a copy."""
    n_seen: int
    """How many attentions had been called before."""

    @property
    def n_positions(self) -> int:
        return self.sequence.size(0)


class Tables:
    """Notes down rows that are added to sequences during a pass."""

    def __init__(self, modules: Iterable[nn.Module]) -> None:
        self.added: list[Added] = []
        self._modules = modules
        self._rows: list[tuple[Tensor, Rows]] = []
        """What was looked up since the latest call of attention, and from where."""
        self.is_open = True
        """Whether a sequence may be in the making: no attention was called since a lookup."""

    @cached_property
    def _held(self) -> dict[int, Tensor]:
        """Storage -> a parameter or buffer that may be a table."""
        groups = (group for each in self._modules for group in (each._parameters, each._buffers))
        held = (each for group in groups for each in group.values())
        return {storage(each): each for each in held if each is not None and each.dim() > 1}

    def looked_up(self, result: Tensor, table: Any, ids: Any) -> None:
        if isinstance(table, Tensor) and isinstance(ids, Tensor) and table.dim() == 2:
            self._rows.append((result, Rows(table, ids)))
            self.is_open = True

    def forget(self) -> None:
        """Attention was called: what is looked up for it has met its sequence by now."""
        self._rows.clear()
        self.is_open = False

    def addition(self, args: Sequence[Any], named: Mapping[str, Any], n_seen: int) -> None:
        """Called before an addition, since some overwrite what they add to."""
        if not self.is_open:
            return
        operands = [each for each in (*args, *named.values()) if isinstance(each, Tensor)]
        if len(operands) != 2 or "alpha" in named:
            return
        for added, sequence in (operands, operands[::-1]):
            rows = self._rows_of(added) if _fits(added, sequence) else None
            if rows is not None:
                copy = sequence.detach().reshape(-1, sequence.size(-1)).clone()
                self.added.append(Added(rows, copy, n_seen))

    def _rows_of(self, tensor: Tensor) -> Rows | None:
        place = storage(tensor)
        for result, rows in self._rows:
            if storage(result) == place:
                return rows
        held = self._held.get(place)
        return None if held is None else _slice_of(held, tensor)


def _slice_of(held: Tensor, part: Tensor) -> Rows | None:
    """Part of a parameter or buffer as rows [T, D] of a table [P, D], axes of size 1 anywhere.

    None where it is not made of whole rows.
    """
    width = part.size(-1)
    if held.size(-1) != width or held.numel() != max(held.shape[:-1]) * width:
        return None
    table, rows = held.detach().reshape(-1, width), part.detach().reshape(-1, width)
    first = (part.storage_offset() - held.storage_offset()) // width
    if not 0 <= first <= len(table) - len(rows):
        return None
    if not torch.equal(table[first : first + len(rows)], rows):
        return None
    return Rows(table, torch.arange(first, first + len(rows)))


def _fits(rows: Tensor, sequence: Tensor) -> bool:
    """Whether rows may be of one sequence [T, D], with axes of size 1 anywhere."""
    return (
        2 <= rows.dim() <= 4
        and sequence.is_floating_point()
        and rows.numel() > 0
        and rows.shape[-1:] == sequence.shape[-1:]
        and rows.numel() == sequence.numel()
        and rows.numel() == max(rows.shape[:-1]) * rows.size(-1)
    )


def are_positions(rows: Rows) -> bool:
    """Whether rows were taken one after the other; one row for all padding may follow."""
    ids = rows.ids.flatten()
    steps = ids[1:] - ids[:-1] == 1
    n = int(steps.long().cumprod(0).sum())  # steps until the first that is none
    rest = ids[n + 1 :]
    return (n > 0 or ids.numel() == 1) and bool((rest == rest[:1]).all())


def is_sinusoidal(table: Tensor) -> bool:
    """Whether a table [P, D] turns in pairs, as sinusoids do and nothing learned does."""
    first = table[:_ENOUGH].detach()
    return bool(first[-1].any()) and find_pairs(first) is not None


def encoding_of(added: Added, tokens: tuple[Token, ...], n_before: int) -> PositionalEncoding:
    """What a recording keeps of it. n_before: tokens that came before these, from a cache."""
    rows = added.rows
    first = max(0, int(rows.ids.flatten()[0]) - n_before)  # some tables keep rows for other uses
    table = rows.table.detach()[first:]
    taken = rows.table.detach()[rows.ids.flatten()]
    return PositionalEncoding(
        tokens=tokens,
        embeddings=added.sequence,
        encodings=taken,
        table=table,
        sum=added.sequence + taken,
        scheme="sinusoidal" if is_sinusoidal(table) else "learned",
    )
