"""The layer under way: its calls of attention, and the matrix that joins their heads.

A call goes on with the layer of the one before it unless a learned matrix has met something new in
between: a layer reads what the layers before it gave. What several calls gave is put side by side
as heads, or after each other as blocks of the sequence, where torch is told to.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from torch import Tensor, nn

from transformer.recording import Sample, sampled
from transformer.watch.calls.einsum import joined_by
from transformer.watch.calls.given import Given, is_joined, put_together
from transformer.watch.calls.heads import side_by_side, wider
from transformer.watch.calls.output import Output, is_norm_of, rows_of
from transformer.watch.calls.seen import Seen
from transformer.watch.capture.held import Held
from transformer.watch.capture.place import Run, is_running
from transformer.watch.capture.sources import Reading, Sources
from transformer.watch.capture.tensors import storage, tensors_in

_BETWEEN = "{} meets what its heads give before W_O does, which is not one matrix of them"
GATE, NORM = _BETWEEN.format("a gate"), _BETWEEN.format("a norm")
DROPOUT, FUNCTION = _BETWEEN.format("dropout"), _BETWEEN.format("a function that is not linear")
ADDEND, MATRIX = _BETWEEN.format("an addend"), _BETWEEN.format("a matrix within each head")
CONVOLUTION = _BETWEEN.format("a convolution")
UNMET = "no matrix meets what its heads give as it is, so which one joins them is not known"
MEAN, MASK = _BETWEEN.format("a mean or a sum"), _BETWEEN.format("a mask")
_MOST = 64
"""Calls whose results are kept: more than a layer has heads in modules of their own."""
_READ = 4
"""Tensors that are remembered as met: a layer reads one thing, or two."""
_Place = tuple[int, int]
"""The address of the numbers of a tensor, and how many they are."""


class Layer:
    """The layer under way."""

    def __init__(self, held: Held, paths: Mapping[nn.Module, str]) -> None:
        self._held, self._paths = held, paths
        self._used: set[int] = set()
        """The places of the numbers of matrices that linear layers have used."""
        self.sources = Sources()
        self._given: list[Given] = []
        """Calls and what they gave, until W_O is found."""
        self.forget()

    def forget(self) -> None:
        """Nothing is kept of a pass that is over."""
        self._give_up(self._given)
        self._given = []
        self._read: dict[_Place, Tensor] = {}
        """Tensors that learned matrices met before the layer's first call."""
        self._met: dict[_Place, Tensor] = {}
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
        self._met, self._has_new, self._latest = {}, False, seen
        self.sources.forget()
        if heads is not None:
            self._given = [*self._given[-_MOST:], Given(seen, heads)]
            queries = sampled(heads.size(1))
            if not seen.is_random:  # a copy: what it holds may be overwritten
                seen.sample = Sample(queries, rows_of(heads, queries))

    def reads(self, *tensors: Tensor) -> None:
        """A learned matrix has met these."""
        for tensor in tensors:
            place = _place(tensor)
            self._has_new = self._has_new or place not in self._read
            self._met.setdefault(place, tensor)
            if len(self._met) > _READ:
                del self._met[next(iter(self._met))]

    def _give_up(self, outputs: Sequence[Given]) -> None:
        """Nothing more meets these: say of those that a matrix has passed by that none has met."""
        for each in outputs:
            if each.is_passed and not each.seen.several:
                each.seen.several = UNMET

    def _pass_by(self) -> None:
        """A learned matrix has met something else than what the latest call gave."""
        if self._given and not self._given[-1].is_passed:
            path = self._given[-1].seen.place.path
            self._given[-1].is_passed = is_running(self._paths, path)

    def multiplied(self, operands: Sequence[Any], result: Tensor, *, is_over: bool) -> None:
        """Two were multiplied, or divided: heads by numbers that are one for all rows, or not."""
        one, by = operands[:2]
        if is_over and self._waits(by):
            self.met_between(by, FUNCTION)
        elif self._waits(one) or self._waits(by):
            one, by = (one, by) if self._waits(one) else (by, one)
            is_scaled = self._given[-1].scale(one, by, result, is_over=is_over)
            if not is_scaled and isinstance(by, Tensor) and by.numel() > 1:
                is_of_rows = by.size(-1) == 1 and by.numel() < one.numel()
                is_norm = is_of_rows and is_norm_of(one, by, is_over)
                self.met_between(one, NORM if is_norm else GATE)

    def summed(self, tensor: object, result: Tensor) -> None:
        """Something was added to a tensor: it may be the residual, where no W_O comes after it."""
        if isinstance(tensor, Tensor) and self._waits(tensor):
            self._given[-1].add(tensor, result)

    def _waits(self, tensor: object) -> bool:
        """Tell whether it is what the latest call gave, and W_O has not met it."""
        if not self._given or not isinstance(tensor, Tensor) or not tensor.is_floating_point():
            return False
        return self._given[-1].holds(tensor)

    def met_between(self, tensor: object, why: str) -> None:
        """Note what no matrix is and met the heads of the latest call. why: a clause for that."""
        if self._waits(tensor) and not self._given[-1].seen.several:
            seen = self._given[-1].seen
            if is_running(self._paths, seen.place.path):  # else it met what the module gave
                seen.several = why

    def linear(self, args: Sequence[Any], result: Tensor) -> None:
        """A linear layer was given (input, matrix, bias), the last of which may be left out."""
        self._used.add(storage(args[1]))
        bias = args[2] if len(args) > 2 else None
        if not self._joins(args, result, bias, is_turned=False):
            self.met_between(args[0], MATRIX)
            self._pass_by()
            self.sources.read(Reading(result, args[0], args[1], bias))
            self.reads(args[0])

    def matrix(self, args: Sequence[Any], result: Tensor) -> None:
        """A product was made of tensors, before which one may stand that is added to it."""
        operands = list(joined_by(args) or tensors_in(args))
        bias = operands[0] if len(operands) > 2 else None
        if self._joins(operands, result, bias, is_turned=True):
            return
        others = [each for each in operands if not self._held.is_learned(each)]
        if len(others) < len(operands):
            for each in others:
                self.met_between(each, MATRIX)
            self._pass_by()
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
        if not self:  # nothing is waited for
            return False
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
        latest = self._given[-1]
        if latest.summed is not None and is_joined(joined, latest.summed):
            self.met_between(latest.heads, ADDEND)
        if not latest.has_met(joined) or latest.is_changed:
            return False
        self.settle()
        run = Run(self._paths, latest.seen.place.path)
        self._output = Output(latest.seen, joined, run, latest.columns)
        self._give_up(self._given[:-1])
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
        calls = [each.seen for each in outputs]
        n_heads, n_queries, _ = calls[0].sizes
        is_last = axis is not None and axis % result.dim() == result.dim() - 1
        is_along = axis is not None and not is_last and parts[0].size(axis) == n_queries
        lengths = calls[0].place.lengths
        if is_along or (lengths and n_queries < min(lengths)):
            for seen in calls:
                seen.is_block = True
            return
        # Heads on an axis of their own that are put side by side have met more values.
        has_heads = is_last and n_heads > 1 and parts[0].size(-1) == outputs[0].heads.size(-1)
        whole = wider(calls) if has_heads else side_by_side(calls)
        if whole is not None:
            for seen in calls:
                seen.whole = whole
            self._given = [put_together(whole, outputs, -1 if has_heads else 0)]


def _place(tensor: Tensor) -> _Place:
    return tensor.data_ptr(), tensor.numel()


def _is_same(part: Tensor, output: Given) -> bool:
    heads = output.heads
    return _place(part) == _place(heads) or (part.dim() > 1 and is_joined(part, heads))
