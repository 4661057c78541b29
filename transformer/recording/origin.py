"""Origins of a call's queries and values: which of the states that were read they are made of.

They are computed once more: a matrix that gives the recorded numbers is the one that made them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from transformer.recording.calls import AttentionCall
from transformer.recording.trace import Read, Trace

_CLOSE = 1e-5
"""The largest distance of numbers that are the same, as a share of the largest."""
_EXACT = (torch.float32, torch.float64)
"""Types in which numbers hardly ever agree by chance."""


@dataclass(frozen=True, eq=False)
class Origin:
    """The reads that have made a call's queries and values, found by computing them once more."""

    call: AttentionCall
    trace: Trace

    @cached_property
    def queries(self) -> tuple[Read, ...]:
        """The reads that gave the first query of the first head; none where it was changed since.

        At the first place, positions turn nothing.
        """
        query = self.trace.query
        if query is None and self.call.knows_scores and self.call.q.size(1):
            query = self.call.q[0, 0]
        if query is None:
            return ()
        query = query.reshape(-1, query.size(-1))[0]
        factors = (1.0, query.numel() ** -0.5, query.numel() ** -0.25)  # some are scaled first
        return tuple(
            read
            for read, row in self._rows
            if any(bool(_are_among(query[None], factor * row)) for factor in factors)
        )

    @cached_property
    def columns(self) -> dict[int, tuple[int, ...]]:
        """Number of states -> the keys whose values are made of their first row."""
        result = {read.states.number: self._made_of(row) for read, row in self._rows}
        return {number: at for number, at in result.items() if at}

    @cached_property
    def _words_among_others(self) -> tuple[int, ...]:
        """The keys that are made of the first row that queries are made of, among a memory's."""
        for asking in self.queries:
            for read, _ in self._rows:
                first = asking.states.first
                if read.states is not asking.states and len(first) == len(read.states.first):
                    at = self._made_of(read.row(first))
                    if at:
                        return at
        return ()

    def _made_of(self, row: Tensor) -> tuple[int, ...]:
        """Find the keys whose values [d] in the first group are some numbers of a row."""
        if not self.call.v.numel():
            return ()
        return tuple(_are_among(self.call.v[0], row).nonzero().flatten().tolist())

    @property
    def is_another(self) -> bool | None:
        """Tell whether keys are made of other states than queries; None where nothing proves it."""
        asking = {read.states.number for read in self.queries}
        if not asking or not self.columns:
            return None
        if asking & set(self.columns):
            return False
        if self.trace.given & set(self.columns):
            return True
        return False if self._words_among_others else None

    @property
    def words(self) -> tuple[int, ...]:
        """The keys that are made of what the first query is made of; none where that is unclear."""
        same = (read for read in self.queries if read.states.number in self.columns)
        read = next((it for it in same if it.states.n_rows == self.call.q.size(1)), None)
        return self._words_among_others if read is None else self.columns[read.states.number]

    @cached_property
    def _rows(self) -> Sequence[tuple[Read, Tensor]]:
        return tuple(self._computed())

    def _computed(self) -> Iterator[tuple[Read, Tensor]]:
        if self.call.v.dtype not in _EXACT:
            return
        for read in self.trace.reads:
            if {read.matrix.dtype, read.states.first.dtype} <= set(_EXACT):
                row = read.row(read.states.first)
                if bool(row.any()):
                    yield read, row


def _are_among(rows: Tensor, numbers: Tensor) -> Tensor:
    """Find the rows [N, d] that hold nothing but some of these numbers [n], in any order."""
    order = numbers.to(rows.dtype).sort().values
    at = torch.searchsorted(order, rows.contiguous())
    near = torch.stack([order[(at - 1).clamp(min=0)], order[at.clamp(max=len(order) - 1)]])
    apart = (near - rows).abs().amin(0)
    is_some = rows.abs().amax(-1) > 0
    return (apart <= _CLOSE * float(order.abs().max())).all(-1) & is_some
