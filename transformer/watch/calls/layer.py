"""The layer under way: its calls of attention, and the matrix that joins their heads.

A call goes on with the layer of the one before it unless a learned matrix has met something new in
between: a layer reads what the layers before it gave. What several calls gave is put side by side
as heads, or after each other as blocks of the sequence, where torch is told to.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from transformer.recording import Sample, sampled
from transformer.watch.calls.heads import side_by_side, wider
from transformer.watch.calls.output import Output, is_norm_of, rows_of
from transformer.watch.calls.seen import Seen
from transformer.watch.capture.held import Held
from transformer.watch.capture.place import Run
from transformer.watch.capture.sources import Reading, Sources
from transformer.watch.capture.tensors import storage, tensors_in

_BETWEEN = "{} meets what its heads give before W_O does, which is not one matrix of them"
GATE, NORM = _BETWEEN.format("a gate"), _BETWEEN.format("a norm")
DROPOUT, FUNCTION = _BETWEEN.format("dropout"), _BETWEEN.format("a function that is not linear")


class Layer:
    """The layer under way."""

    def __init__(self, held: Held, paths: Mapping[nn.Module, str]) -> None:
        self._held, self._paths = held, paths
        self._used: set[int] = set()
        """The places of the numbers of matrices that linear layers have used."""
        self.sources = Sources()
        self.forget()

    def forget(self) -> None:
        """Nothing is kept of a pass that is over."""
        self._given: list[tuple[Seen, Tensor]] = []
        """Calls and what they gave [H, Q, d_value], until W_O is found."""
        self._read: list[Tensor] = []
        """Tensors that learned matrices met before the layer's first call."""
        self._met: list[Tensor] = []
        """Tensors that they have met since the latest call."""
        self._has_new = False
        """True: that is more than what the layer read."""
        self._latest: Seen | None = None
        self.sources.release()
        self._output: Output | None = None
        """The term made of the heads of the latest call that a matrix met."""

    def __bool__(self) -> bool:
        """Tell whether W_O may be met next, or is not known to be all that joins the heads."""
        return bool(self._given) or self.output is not None

    @property
    def output(self) -> Output | None:
        """The output that is made of heads, while more may be."""
        return self._output if self._output is not None and self._output.is_open else None

    def settle(self) -> None:
        """Nothing more is made of the heads of the latest call."""
        if self.output is not None:
            self.output.settle()
        self._output = None

    def note(self, seen: Seen, heads: Tensor | None) -> None:
        """A call of attention was seen. heads: what it gave; None where W_O is known."""
        self.settle()
        latest = self._latest
        if latest is not None and not self._has_new:
            seen.goes_on = bool(self._met) or latest.place.run == seen.place.run
        if not seen.goes_on:
            self._read = self._met
        self._met, self._has_new, self._latest = [], False, seen
        self.sources.forget()
        if heads is not None:
            self._keep([*self._given[-_MOST:], (seen, heads)])

    def _keep(self, outputs: list[tuple[Seen, Tensor]]) -> None:
        """Results wait for W_O. What the latest of them holds is sampled: it may be overwritten."""
        self._given = outputs
        seen, heads = outputs[-1]
        queries = sampled(heads.size(1))
        if not seen.is_random:
            seen.sample = Sample(queries, rows_of(heads, queries))

    def reads(self, *tensors: Tensor) -> None:
        """A learned matrix has met these."""
        for tensor in tensors:
            self._has_new = self._has_new or not _is_among(tensor, self._read)
            if not _is_among(tensor, self._met):
                self._met = [*self._met[-3:], tensor]  # a layer reads one thing, or two

    def multiplied(self, operands: Sequence[Any], *, is_over: bool) -> None:
        """Two were multiplied, or divided: heads are normed by one number a row, or else gated."""
        for one, by in (operands[:2], operands[1::-1]) if self._given else ():
            if isinstance(one, Tensor) and isinstance(by, Tensor) and by.numel() > 1:
                is_of_rows = by.size(-1) == 1 and by.numel() < one.numel()
                is_norm = is_of_rows and is_norm_of(one, by, is_over)
                self.met_between(one, NORM if is_norm else GATE)

    def met_between(self, tensor: Tensor, why: str) -> None:
        """Note what no matrix is and met the heads of the latest call. why: a clause for that."""
        if self._given and not self._given[-1][0].several:
            seen, heads = self._given[-1]
            if _is_heads(tensor, heads):
                seen.several = why

    def linear(self, args: Sequence[Any], result: Tensor) -> None:
        """A linear layer was given (input, matrix, bias), the last of which may be left out."""
        self._used.add(storage(args[1]))
        bias = args[2] if len(args) > 2 else None
        if not self._joins(args, result, bias, is_turned=False):
            self.sources.read(Reading(result, args[0], args[1], bias))
            self.reads(args[0])

    def matrix(self, args: Sequence[Any], result: Tensor) -> None:
        """A product was made of tensors, before which one may stand that is added to it."""
        operands = list(tensors_in(args))
        bias = operands[0] if len(operands) > 2 else None
        if self._joins(operands, result, bias, is_turned=True):
            return
        others = [each for each in operands if not self._held.is_learned(each)]
        if len(others) < len(operands):
            self.reads(*others)
            matrix = next(each for each in reversed(operands) if self._held.is_learned(each))
            if others and matrix.dim() > 1:
                self.sources.read(Reading(result, others[-1], matrix, bias, is_turned=True))

    def has_met(self, weight: Tensor | None) -> bool:
        """Tell whether a linear layer has used this matrix, in this pass."""
        return weight is not None and storage(weight) in self._used

    def _joins(
        self, operands: Any, result: Tensor, bias: Tensor | None, *, is_turned: bool
    ) -> bool:
        """Tell whether a matrix met what the latest call gave, its heads joined.

        is_turned: whether it is [H * d_value, D]. result: of the product and the bias.
        """
        for joined, matrix in pairwise(tensors_in(operands)):
            if matrix.dim() != 2 or joined.dim() < 2:
                continue
            projection = matrix.mT if is_turned else matrix
            if projection.size(-1) != joined.size(-1):
                continue
            if self._is_first(joined) or self._is_next(joined, projection, bias, result):
                assert self._output is not None
                self._output.joins(projection, bias, result)
                return True
        return False

    def _is_first(self, joined: Tensor) -> bool:
        """Tell whether it is what the latest call gave, which no matrix has met before."""
        if not self._given:
            return False
        seen, heads = self._given[-1]
        if _is_changed(seen, heads) or not _is_joined(joined, heads):
            return False
        self.settle()
        self._output = Output(seen, joined, Run(self._paths, seen.place.path))
        self._given.clear()
        return True

    def _is_next(
        self, tensor: Tensor, projection: Tensor, bias: Tensor | None, result: Tensor
    ) -> bool:
        """Tell whether it is what one matrix has met already; what was made of that is followed."""
        output = self.output
        if output is None:
            return False
        if output.is_joined(tensor):
            return True
        output.met(tensor, projection, bias, result)
        return False

    def put_together(self, parts: Sequence[Tensor], axis: int | None, result: Tensor) -> None:
        """Note that calls' results were put side by side: as heads, or as blocks of the sequence.

        axis: of the parts, along which that was; None: along one that is new.
        """
        if self.output is not None:
            self.output.put_together(parts, result)
        outputs = self._given[-len(parts) :]
        if not 1 < len(parts) == len(outputs) or not all(map(_is_same, parts, outputs)):
            return
        calls = [seen for seen, _ in outputs]
        n_heads, n_queries, _ = calls[0].sizes
        is_last = axis is not None and axis % result.dim() == result.dim() - 1
        is_along = axis is not None and not is_last and parts[0].size(axis) == n_queries
        lengths = calls[0].place.lengths
        if is_along or (lengths and n_queries < min(lengths)):
            for seen in calls:
                seen.is_block = True
            return
        # Heads on an axis of their own that are put side by side have met more values.
        has_heads = is_last and n_heads > 1 and parts[0].size(-1) == outputs[0][1].size(-1)
        whole = wider(calls) if has_heads else side_by_side(calls)
        if whole is not None:
            for seen in calls:
                seen.whole = whole
            heads = torch.cat([heads for _, heads in outputs], -1 if has_heads else 0)
            self._keep([(whole, heads)])


_MOST = 64
"""Calls whose results are kept: more than a layer has heads in modules of their own."""


def _place(tensor: Tensor) -> tuple[int, int]:
    return tensor.data_ptr(), tensor.numel()


def _is_among(tensor: Tensor, others: Sequence[Tensor]) -> bool:
    return any(_place(each) == _place(tensor) for each in others)


def _is_changed(seen: Seen, heads: Tensor) -> bool:
    """Tell whether something was added in place to what a call gave."""
    sample = seen.sample
    if sample is None:
        return False
    values = sample.values
    ends, same_ends = (slice(None, None, max(len(it[0]) - 1, 1)) for it in (heads, values))
    return not torch.equal(heads[:, ends], values[:, same_ends])


def _is_same(part: Tensor, output: tuple[Seen, Tensor]) -> bool:
    heads = output[1]
    return _place(part) == _place(heads) or (part.dim() > 1 and _is_joined(part, heads))


def _is_heads(tensor: Tensor, heads: Tensor) -> bool:
    """Tell whether it holds what heads [H, Q, d_value] gave, beside each other or not."""
    if tensor.dim() < 2 or tensor.numel() != heads.numel():
        return False
    return storage(tensor) == storage(heads) or _is_joined(tensor, heads)


def _is_joined(joined: Tensor, heads: Tensor) -> bool:
    """Tell whether the rows of joined [..., H * d_value] are those of heads [H, Q, d_value].

    The first and the last row say it: two sides that agree there bit for bit are the same.
    """
    n_heads, n_queries, d_value = heads.shape
    width = n_heads * d_value
    if joined.size(-1) != width or joined.numel() != width * n_queries:
        return False
    is_same = joined.data_ptr() == heads.data_ptr() and joined.is_contiguous()
    if is_same and heads.stride() == (d_value, width, 1):  # never copied
        return True
    ends = slice(None, None, max(n_queries - 1, 1))
    rows = joined.reshape(n_queries, n_heads, d_value)[ends].transpose(0, 1)
    return torch.equal(rows, heads[:, ends].to(rows.dtype))
