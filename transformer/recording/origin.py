"""Origins of a call's queries and values: which of the states that were read they are made of.

They are computed once more: a matrix that gives the recorded numbers is the one that made them.
"""

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import torch
from torch import Tensor

from transformer.in_a_line import in_a_line
from transformer.recording.calls import (
    AttentionCall,
    Firsts,
    Read,
    Trace,
    are_along,
    normed,
    parts_of,
)

_CLOSE = 1e-5
"""The largest distance of numbers that are the same, as a share of the largest."""
_EXACT = (torch.float32, torch.float64)
"""Types in which numbers hardly ever agree by chance."""


@dataclass(frozen=True, eq=False)
@in_a_line
class Origin:
    """The reads that have made a call's queries and values, found by computing them once more."""

    call: AttentionCall
    trace: Trace

    @cached_property
    def queries(self) -> tuple[Read, ...]:
        """The reads that gave the first query of all heads; none where it was changed since.

        At the first place, positions turn nothing.
        """
        heads = self._firsts.query
        if heads is None:
            return ()
        reads = tuple(read for read, row in self._rows if bool(self._are_plain(heads, read, row)))
        return reads or tuple(it for it, row in self._rows if self._gives(heads, it, row))

    @cached_property
    def _firsts(self) -> Firsts:
        """The first query and the first key of all heads [1, H, d]."""
        rows: Sequence[Tensor | None] = self.trace.firsts
        if all(each is None for each in rows) and self.call.knows_scores:
            rows = [each[:, 0] if each.size(1) else None for each in (self.call.q, self.call.k)]
        return Firsts(*(row if row is None else row.reshape(1, -1, row.size(-1)) for row in rows))

    @cached_property
    def columns(self) -> dict[int, tuple[int, ...]]:
        """Number of states -> the keys whose values are made of their first row."""
        pairs = ((read.states.number, self._made_of(read, row)) for read, row in self._rows)
        return {number: at for number, at in pairs if at}

    @cached_property
    def _words_among_others(self) -> tuple[int, ...]:
        """The keys that are made of the first row that queries are made of, among a memory's."""
        for asking in self.queries:
            for read, _ in self._rows:
                first = asking.states.first
                if read.states is not asking.states and len(first) == len(read.states.first):
                    at = self._made_of(read, read.row(first))
                    if at:
                        return at
        return ()

    def _made_of(self, read: Read, row: Tensor) -> tuple[int, ...]:
        """Find the keys whose values [G, d] are some numbers of a row."""
        if not self.call.v.numel():
            return ()
        heads = self.call.v.transpose(0, 1)
        at = self._are_plain(heads, read, row)
        return tuple(at.nonzero().flatten().tolist())

    def _are_plain(self, heads: Tensor, read: Read, row: Tensor) -> Tensor:
        """Find the heads [N, H, d] that are some numbers of a row, times a factor: bool [N]."""
        types, width = _types(heads, read), heads.size(-1)
        if set(types) <= set(_EXACT):
            for factor in (1.0, width**-0.5, width**-0.25):  # some are scaled first
                # Find the rows [N, d] that hold nothing but some of these numbers [n], in any
                # order.
                rows = heads[:, 0]
                numbers = factor * row
                order = numbers.to(rows.dtype).sort().values
                at = torch.searchsorted(order, rows.contiguous())
                near = torch.stack(
                    [order[(at - 1).clamp(min=0)], order[at.clamp(max=len(order) - 1)]]
                )
                apart = (near - rows).abs().amin(0)
                is_some = rows.abs().amax(-1) > 0
                result = (apart <= _CLOSE * float(order.abs().max())).all(-1) & is_some
                if bool(result.any()):
                    return result
        return are_along(heads.float(), parts_of(row.float(), width), types)

    @cached_property
    def is_another(self) -> bool | None:
        """Tell whether keys are made of other states than queries; None where nothing proves it."""
        asking = {read.states.number for read in self.queries}
        if self._gives_keys(asking):
            return False
        if not asking or not self.columns:
            return False if not self._rows and self._is_bare() else None
        if asking & set(self.columns):
            return False
        if self.trace.given & set(self.columns):
            n_others = self.call.v.size(1) - self.call.q.size(1)
            if n_others > 0 and n_others in self._words_among_others:  # they stand before words
                return None
            as_long = self.call.q.size(1) == self.call.v.size(1)  # Funnel's queries are pooled
            return None if as_long and self._is_alike(asking, self.columns) else True
        sources = self._with_sources(asking), self._with_sources(self.columns)
        return False if self._words_among_others or sources[0] & sources[1] else None

    def _gives_keys(self, asking: Set[int]) -> bool:
        """Tell whether a matrix that read these states made the first key of all heads.

        MobileBERT's queries and keys are made of fewer numbers than its values are.
        """
        heads = self._firsts.key
        if heads is None:
            return False
        rows = ((read, row) for read, row in self._rows if read.states.number in asking)
        return any(bool(self._are_plain(heads, read, row)) for read, row in rows)

    def _is_alike(self, numbers: Iterable[int], others: Iterable[int]) -> bool:
        """Tell whether some of two groups of states begin alike: one may be a copy of the other."""
        first = {read.states.number: read.states.first for read, _ in self._rows}
        pairs = ((first[one], first[other]) for one in numbers for other in others)
        return any(torch.equal(one, other) for one, other in pairs)

    def _is_bare(self) -> bool:
        """Tell whether the first query is a value as well: no matrix comes before them."""
        query, values = self._firsts.query, self.call.v.transpose(0, 1)
        if query is None or query.size(-1) != values.size(-1):
            return False
        types = query.dtype, values.dtype
        return bool(are_along(values.float(), query[0].float(), types).any())

    def _with_sources(self, numbers: Iterable[int]) -> set[int]:
        """Numbers of states, and of those that they are made of by one matrix: a latent is."""
        own = set(numbers)
        states = {it.states.number: it.states for it, _ in self._rows if it.states.number in own}
        return own | {
            read.states.number
            for read, row in self._rows
            for each in states.values()
            if each.number != read.states.number and self._gives(each.first[None, None], read, row)
        }

    def _gives(self, heads: Tensor, read: Read, row: Tensor) -> bool:
        """Tell whether a row gives heads [1, H, d] as it is or after a norm."""
        types, heads = _types(heads, read), heads.float()
        row, width = row.float(), heads.size(-1)
        forms = chain([parts_of(row, width)], normed(row, width, self.trace.norms))
        return any(bool(are_along(heads, parts, types)) for parts in forms)

    @property
    def words(self) -> tuple[int, ...]:
        """The keys that are made of what the first query is made of; none where that is unclear."""
        same = (read for read in self.queries if read.states.number in self.columns)
        read = next((it for it in same if it.states.n_rows == self.call.q.size(1)), None)
        return self._words_among_others if read is None else self.columns[read.states.number]

    @cached_property
    def _rows(self) -> Sequence[tuple[Read, Tensor]]:
        """The latest first: before these, the layer before read what it gave."""
        return tuple(self._computed((*self.trace.reads, *self.trace.earlier)))

    def _computed(self, reads: Iterable[Read]) -> Iterator[tuple[Read, Tensor]]:
        for read in reads:
            if read.matrix.is_floating_point() and read.states.first.is_floating_point():
                row = read.row(read.states.first)
                if bool(row.any()):
                    yield read, row


def _types(heads: Tensor, read: Read) -> tuple[torch.dtype, ...]:
    return heads.dtype, read.matrix.dtype, read.states.first.dtype
