"""The layer under way: its calls of attention, and the matrix that joins their heads."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate, pairwise
from typing import Any

import torch
from torch import Tensor, nn

from transformer.recording import AttentionCall, Sample, WeightsCall, sampled
from transformer.watch.calls.marks import Given, is_joined, put_together
from transformer.watch.calls.output import Output, is_norm_of, rows_of
from transformer.watch.calls.seen import Seen
from transformer.watch.capture.homes import STEP, Homes, no_homes
from transformer.watch.capture.place import Run, is_running
from transformer.watch.capture.sources import UNKNOWN, Reading, Sources
from transformer.watch.capture.tensors import Held, storage, tensors_in

# Several calls that are the heads of one layer, as one call.


def wider(calls: Sequence[Seen]) -> Seen | None:
    """One call of the same heads with the values of all; None where their weights differ."""
    made = [call.make() for call in calls]
    if len({_maps(call) for call in made}) > 1:
        return None
    values = torch.cat([call.v for call in made], dim=-1)
    call = replace(made[0], v=values)
    return replace(calls[0], make=lambda: call, parts=tuple(calls))


def _maps(call: AttentionCall) -> tuple[int, ...]:
    """Locate the numbers that its weights are made of."""
    made_of = (call.given,) if isinstance(call, WeightsCall) else (call.q, call.k)
    return tuple(tensor.data_ptr() for tensor in made_of)


def side_by_side(calls: Sequence[Seen]) -> Seen | None:
    """One call of all their heads, in the order of calling; None where sizes differ."""
    if len({call.sizes for call in calls}) > 1:
        return None
    first = calls[0]
    n_heads, n_queries, n_keys = first.sizes
    matrices = [call.projection for call in calls]
    matrices_there = [matrix for matrix in matrices if matrix is not None]
    return replace(
        first,
        sizes=(n_heads * len(calls), n_queries, n_keys),
        make=partial(_made_heads, [call.make for call in calls]),
        is_causal=all(call.is_causal for call in calls),
        projection=torch.cat(matrices_there, dim=1) if len(matrices_there) == len(calls) else None,
        sample=_summed([call.sample for call in calls])
        if len(matrices_there) == len(calls)
        else None,
        parts=tuple(calls),
    )


def _summed(samples: Sequence[Sample | None]) -> Sample | None:
    """Sum what heads gave, each after a W_O of its own."""
    there = [each for each in samples if each is not None]
    if len(there) < len(samples):
        return None
    biases = [each.bias for each in there if each.bias is not None]
    values = torch.stack([each.values for each in there]).sum(0)
    return Sample(there[0].queries, values, torch.stack(biases).sum(0) if biases else None)


def _made_heads(makers: Iterable[Callable[[], AttentionCall]]) -> AttentionCall:
    calls = [make() for make in makers]
    first = calls[0]
    if any(isinstance(call, WeightsCall) or call.scale != first.scale for call in calls):
        return WeightsCall(
            q=_along_heads(call.q[..., :0] for call in calls),
            k=_along_heads(call.k[..., :0] for call in calls),
            v=_along_heads(call.v for call in calls),
            mask=_masks([call.allowed() for call in calls]),
            scale=1.0,
            is_causal=False,
            has_output=False,
            given=_along_heads(call.weights() for call in calls),
            replaced=_replaced(calls),
        )
    return replace(
        first,
        q=_along_heads(call.q for call in calls),
        k=_along_heads(call.k for call in calls),
        v=_along_heads(call.v for call in calls),
        mask=_masks([call.allowed() for call in calls]),
        bias=_together(calls, [call.bias for call in calls]),
        low=_together(calls, [call.low for call in calls]),
        is_causal=False,
        added=_together(calls, [call.added for call in calls]),
        replaced=_replaced(calls),
    )


def _along_heads(tensors: Iterable[Tensor]) -> Tensor:
    return torch.cat(list(tensors))


def _masks(allowed: list[Tensor]) -> Tensor | None:
    """bool [H, Q, K] each -> [1 or H, Q, K]; None where every cell is open."""
    together = torch.cat(allowed)
    if bool(together.all()):
        return None
    return together[:1] if bool((together == together[:1]).all()) else together


def _together(calls: Sequence[AttentionCall], added: Sequence[Tensor | None]) -> Tensor | None:
    """Join what is added to the scores of each call, [H, Q, K] of all heads; 0 where nothing is."""
    if all(each is None for each in added):
        return None
    shape = (*calls[0].q.shape[:2], calls[0].k.size(1))
    zeros = calls[0].q.new_zeros(shape)
    return torch.cat([zeros if each is None else each.expand(shape) for each in added])


def _replaced(calls: Sequence[AttentionCall]) -> dict[int, Tensor]:
    """Head, counted over all calls -> its output, where edits made that."""
    firsts = accumulate([0, *(call.n_heads for call in calls)])
    pairs = zip(firsts, calls, strict=False)
    return {first + head: z for first, call in pairs for head, z in call.replaced.items()}


# A W_O with an axis for the heads, which an einsum sums over beside that of the values.


def joined_by(args: Sequence[Any]) -> tuple[Tensor, Tensor] | None:
    """Lay out heads [..., H * d_value] and W_O [H * d_value, D] of (equation, a, b); None: neither.

    XLNet's is "ibnd,hnd->ibh".
    """
    if len(args) < 2 or not isinstance(args[0], str) or "." in args[0]:
        return None
    operands = args[1] if isinstance(args[1], list | tuple) else args[1:]
    terms, _, out = args[0].replace(" ", "").partition("->")
    letters = terms.split(",")
    if len(letters) != 2 or not all(isinstance(each, Tensor) for each in operands):
        return None
    first, second = zip(letters, operands, strict=True)
    return _joined(first, second, out) or _joined(second, first, out)


def _joined(
    heads: tuple[str, Tensor], matrix: tuple[str, Tensor], out: str
) -> tuple[Tensor, Tensor] | None:
    of_heads, of_matrix = heads[0], matrix[0]
    inner = [letter for letter in of_heads if letter in of_matrix and letter not in out]
    outer = [letter for letter in of_heads if letter not in inner]
    rest = [letter for letter in of_matrix if letter not in inner]
    if len(inner) != 2 or len(of_matrix) != 3 or out != "".join((*outer, *rest)):
        return None
    joined = heads[1].permute([of_heads.index(letter) for letter in (*outer, *inner)]).flatten(-2)
    turned = matrix[1].permute([of_matrix.index(letter) for letter in (*rest, *inner)]).flatten(1)
    return joined, turned.mT


# The layer under way: its calls of attention, and the matrix that joins their heads.
#
# A call goes on with the layer of the one before it unless a learned matrix has met something new
# in between: a layer reads what the layers before it gave. What several calls gave is put side by
# side as heads, or after each other as blocks of the sequence, where torch is told to.

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


# Several calls that are the queries of one attention, one after the other, as one call.
#
# A recurrent decoder asks for its next query when it has what the one before gave, as in
# PyTorch's tutorial on translation with attention.


def joined_steps(seen: list[Seen], lengths: Collection[int]) -> list[Seen]:
    """The calls of a pass; those of one module, one query each of the same keys, as one call.

    lengths: of what the model was given. Layers or hops that share their matrices look the same:
    steps are as many as something is long, and nothing else attends in a recurrent model.
    """
    if len(seen) not in lengths:
        return seen
    alike = {(each.place.path, each.sizes, each.is_softmax) for each in seen}
    _, n_queries, n_keys = seen[0].sizes if seen else (0, 0, 0)
    if len(seen) < 2 or len(alike) > 1 or n_queries != 1 or n_keys < 2 or not _read_alike(seen):
        return seen
    matrices = {None if it.projection is None else it.projection.data_ptr() for it in seen}
    first = seen[0]
    n_heads = first.sizes[0]
    return [
        replace(
            first,
            sizes=(n_heads, len(seen), n_keys),
            place=replace(first.place, lengths=frozenset()),  # of a step
            says_another=True,  # what all steps read was there before them
            source=UNKNOWN,
            make=partial(_made_steps, [each.make for each in seen]),
            sample=_sample([each.sample for each in seen]) if len(matrices) == 1 else None,
            projection=first.projection if len(matrices) == 1 else None,
            is_random=any(each.is_random for each in seen),
            homes=_homes_of_steps([each.homes for each in seen]),
        )
    ]


def _homes_of_steps(homes: Sequence[Homes | None]) -> Homes | None:
    """A row for each step; columns where all steps have read the same."""
    there = [each for each in homes if each is not None]
    if len(there) < len(homes):
        return None
    keys = there[0].keys
    is_same = all(torch.equal(keys, each.keys) for each in there)
    steps = torch.full((len(there),), STEP, dtype=keys.dtype)
    return Homes(steps, keys if is_same else no_homes(len(keys)))


def _read_alike(seen: Sequence[Seen]) -> bool:
    values = [each.make().v for each in seen]
    return bool(values[0].numel()) and all(torch.equal(values[0], each) for each in values)


def _made_steps(makers: Sequence[Callable[[], AttentionCall]]) -> WeightsCall:
    calls = [make() for make in makers]
    first = calls[0]
    weights = torch.cat([call.weights() for call in calls], 1)
    is_open = torch.cat([call.allowed().expand(len(weights), 1, -1) for call in calls], 1)
    return WeightsCall(
        q=first.q.new_empty(len(weights), len(calls), 0),
        k=first.k[..., :0],
        v=first.v,
        mask=None if bool(is_open.all()) else is_open,
        scale=1.0,
        is_causal=False,
        has_output=first.has_output,
        projection=first.projection,
        given=weights,
    )


def _sample(samples: Sequence[Sample | None]) -> Sample | None:
    """One sample of all of them, each of one query; None where one was not seen."""
    there = [each for each in samples if each is not None]
    if len(there) < len(samples):
        return None
    values: list[Tensor] = [each.values for each in there]
    return Sample(torch.arange(len(there), device="cpu"), torch.cat(values, -2), there[0].bias)
