"""Marks of tensors on their way, and the heads that a call gave, on their way to W_O."""

import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer.recording import Sample
from transformer.recording.calls import NO_ROWS, Firsts
from transformer.watch.calls.fused import FAR, split
from transformer.watch.calls.seen import Seen
from transformer.watch.calls.sinks import Form, dropped, formed, n_before
from transformer.watch.capture.homes import Homes
from transformer.watch.capture.operators import ADDITIONS, FILLING, JOINING, KEEPING, OVER, TIMES
from transformer.watch.capture.sources import UNKNOWN, Made
from transformer.watch.capture.tensors import storage, tensors_in

# Addends of scores, between the product that makes them and their softmax.


@dataclass(frozen=True, eq=False)
class Addend:
    """A tensor that was added to scores: a mask, a bias, or both in one."""

    tensor: Tensor
    factor: float = 1.0
    """The factor of the sum later, and of the addend itself, where it was subtracted."""

    @property
    def sign(self) -> float:
        return -1.0 if self.factor < 0 else 1.0


def carried(addends: tuple[Addend, ...], func: Any, args: Sequence[Any]) -> tuple[Addend, ...]:
    """Carry them over a function: all as they are or scaled; nothing where unclear."""
    if func in KEEPING:
        return addends
    factor = _factor_addends(func, args)
    if factor is None:
        return ()
    return tuple(replace(each, factor=each.factor * factor) for each in addends)


def _factor_addends(func: Any, args: Sequence[Any]) -> float | None:
    """Find the factor of a function that scales its first argument; None for any other function."""
    by = args[1] if len(args) == 2 else None
    if isinstance(by, Tensor) and by.numel() == 1:
        by = by.item()
    if isinstance(by, bool) or not isinstance(by, int | float):
        return None
    return float(by) if func in TIMES else 1 / by if func in OVER and by else None


def bias_of(addends: Iterable[Addend], sizes: Sequence[int]) -> Tensor | None:
    """Sum what was added to scores of sizes (H, Q, K) beside masks [1 or H, 1 or Q, K], or None."""
    total: Tensor | None = None
    for addend in addends:
        spread = _of_cells(addend.tensor, sizes)
        if spread is None:
            return None
        bias = None if addend.sign < 0 else split(spread).bias  # some subtract a row's largest
        if bias is not None:
            bias = bias.float() * addend.factor
            total = bias if total is None else total + bias
    return total


def covered_by(addends: Iterable[Addend], sizes: Sequence[int]) -> Tensor | None:
    """Cells [1 or H, 1 or Q, K] that addends close or cover as masks do; None where none does."""
    total: Tensor | None = None
    for addend in addends:
        spread = _of_cells(addend.tensor, sizes)
        is_open = None if spread is None else split(spread * addend.sign).uncovered
        if is_open is not None:
            total = ~is_open if total is None else total | ~is_open
    return total


def _of_cells(addend: Tensor, sizes: Sequence[int]) -> Tensor | None:
    """Spread it as [1 or H, 1 or Q, K]; None where it is of another size."""
    addend = addend.detach()
    addend = addend.flatten(0, -3) if addend.dim() > 3 else addend
    addend = addend.reshape(*(1,) * (3 - addend.dim()), *addend.shape)
    if any(own not in (1, size) for own, size in zip(addend.shape, sizes, strict=True)):
        return None
    return addend.expand(-1, -1, sizes[-1])


# Marks of tensors on their way from a product of queries and keys through a softmax.
#
# A product of two activations is marked, and so is what functions make of it; a softmax over its
# keys is, and what dropout, reshaping and a mixture of heads make of that. A softmax that is
# written out (exp over its sum, say), or whose keys are not the last axis, is one more function
# after the product: `by_hand` tells by its numbers what it has become.


@dataclass(eq=False)
class Softmax:
    """A softmax whose input came from a product of queries and keys."""

    weights: Tensor
    """The weights as it gave them [..., Q, K], without the column of a sink."""
    scores: Tensor
    """The scores, of the same shape."""
    addends: tuple[Addend, ...] = ()
    origin: "Origin" = field(default_factory=lambda: Origin())
    is_masked: bool = False
    """True: cells were filled or multiplied with 0 on the way to it, or after it."""
    sink: Tensor | None = None
    """The share of a sink that took part in it, spread over the same shape."""


@dataclass(eq=False)
class Origin:
    """The origin that a softmax and all that was made of it have in common."""

    path: str = ""
    """The module's path."""
    sizes: tuple[int, int] = (0, 0)
    """Its last two: queries and keys, in most code."""
    is_picked: bool = False
    """True: queries or keys were picked out of a sequence."""
    has_sink: bool = False
    """True: one more key takes part in it, which is dropped after it."""
    is_sink_first: bool | None = None
    """True: its column stands before those of the keys; None: that is not known."""
    is_used: bool = False
    """True: it has met its values."""
    is_of_blocks: bool = False
    """True: it met them block by block."""
    is_written_out: bool = False
    """True: its weights are known when they meet their values, and its scores are not."""
    is_of_products: bool = True
    """True: its scores are products of activations."""
    source: Made = UNKNOWN
    """The origin of queries and keys."""
    firsts: Firsts = NO_ROWS
    homes: Homes | None = None
    """The positions that both are of."""
    product: "Product | None" = None


@dataclass(frozen=True)
class Product:
    """A product of two activations, which may become scores."""

    n_keys: int
    addends: tuple[Addend, ...] = ()
    """The addends on the way from there."""
    is_picked: bool = False
    """True: queries or keys were picked out of a sequence."""
    source: Made = UNKNOWN
    """Their origin."""
    firsts: Firsts = NO_ROWS
    homes: Homes | None = None
    """The positions that both are of; None: nobody asked, or their axes are not clear."""
    operands: tuple[Any, ...] = ()
    """The two, (q, k), or of an einsum (equation, q, k)."""
    origin: Origin | None = None
    """The one of a softmax over another axis than the last, if there was one."""
    is_masked: bool = False
    """True: cells were filled, or multiplied with 0."""
    n_moves: int = 0
    """The number of functions that may have put its axes into another order."""
    has_others: bool = False
    """True: one with something else than the keys of the text was added to it."""
    n_before: int | None = None
    """The columns that were put before those of its keys; None: no column is known to be put."""
    form: Form = "scores"


class Marks:
    """Marks of tensors, for as long as they live and without keeping them alive."""

    def __init__(self) -> None:
        self._marks: dict[int, tuple[weakref.ref[Tensor], Product | Softmax]] = {}

    def __bool__(self) -> bool:
        return bool(self._marks)

    def put(self, tensor: Tensor, mark: Product | Softmax) -> None:
        key, marks = id(tensor), self._marks
        marks[key] = (weakref.ref(tensor, lambda _: marks.pop(key, None)), mark)

    def get(self, tensor: Any) -> Product | Softmax | None:
        mark = self._marks.get(id(tensor))
        return mark[1] if mark is not None and mark[0]() is tensor else None


def inherited(
    marks: Marks, func: Any, result: Tensor, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> None:
    """Hand on what is known of an argument to what a function made of it."""
    for tensor in tensors_in((*args, *kwargs.values())):
        mark = marks.get(tensor)
        if mark is None:
            continue
        if not mark.is_masked and _masks(func, tensor, (*args, *kwargs.values())):
            mark = replace(mark, is_masked=True)
        if isinstance(mark, Product):
            arguments = (*args, *kwargs.values())
            together = func in JOINING and _together(marks, arguments, result)
            if func in _MOVING:
                mark = replace(mark, n_moves=mark.n_moves + 1)
            marks.put(result, together or _after(mark, tensor, marks, func, arguments))
            return
        if func in _ARRANGING and tensor is args[0] and tensor.shape == mark.weights.shape:
            rest, sink = args[1:], mark.sink
            weights, scores = (func(x, *rest, **kwargs) for x in (mark.weights, mark.scores))
            sink = None if sink is None else func(sink.contiguous(), *rest, **kwargs)
            marks.put(result, replace(mark, weights=weights, scores=scores, sink=sink))
            return
        left = dropped(tensor, result) if tensor.shape == mark.weights.shape else None
        if left is not None:
            scores, sink = mark.scores[..., left[0]], mark.weights[..., left[1]]
            sink = sink.expand_as(result)
            marks.put(result, replace(mark, weights=result, scores=scores, sink=sink))
            return
        if result.numel() == tensor.numel() or result.shape[-2:] == mark.weights.shape[-2:]:
            marks.put(result, mark)
            return


def _masks(func: Any, tensor: Tensor, arguments: Sequence[Any]) -> bool:
    """Tell whether a function closes cells: it fills some, or multiplies them with 0."""
    if func in FILLING:
        return True
    others = [each for each in tensors_in(arguments) if each is not tensor]
    if len(others) != 1 or others[0].dim() < 2 or not others[0].numel():
        return False
    if func in ADDITIONS:
        return float(others[0].amin()) <= -FAR or float(others[0].amax()) >= FAR
    return func in TIMES and bool(((others[0] == 0) | (others[0] == 1)).all())


def _together(marks: Marks, arguments: Sequence[Any], result: Tensor) -> Product | None:
    """Products with keys of several sorts that were put side by side; None where they were not."""
    marks_there = [marks.get(tensor) for tensor in tensors_in(arguments)]
    widths = [each.n_keys for each in marks_there if isinstance(each, Product)]
    is_whole = len(widths) == len(marks_there) and sum(widths) == result.size(-1)
    return Product(sum(widths)) if is_whole else None


_MOVING = frozenset(
    {
        *(Tensor.permute, torch.permute, Tensor.transpose, torch.transpose, Tensor.movedim),
        *(torch.movedim, Tensor.swapaxes, torch.swapaxes),
        *(Tensor.mT.__get__, Tensor.T.__get__),  # type: ignore[attr-defined]
    }
)
"""Functions that put axes into another order."""
_ARRANGING = frozenset(
    {
        *(Tensor.view, Tensor.reshape, torch.reshape, Tensor.flatten, torch.flatten),
        *(Tensor.unflatten, torch.unflatten, Tensor.squeeze, torch.squeeze),
        *(Tensor.unsqueeze, torch.unsqueeze, *_MOVING),
    }
)
"""Functions that leave every weight as it is and move it to another place."""


def mixed(marks: Marks, result: Tensor, operands: Sequence[Any]) -> bool:
    """Hand on a softmax whose heads a learned matrix has mixed; whether there was one.

    operands: (equation, a, b) of an einsum, or (a, b). Keys lie next to each other in memory: a
    product over another axis leaves them as they are.
    """
    equation = operands[0] if isinstance(operands[0], str) else None
    for place, tensor in enumerate(tensors_in(operands)):
        mark = marks.get(tensor)
        is_of_heads = equation is None and tensor.dim() == 4 and tensor.stride(-1) != 1
        is_turned = isinstance(mark, Product) and mark.n_moves % 2 and is_of_heads
        if isinstance(mark, Product) and is_turned and tensor.shape == result.shape:
            marks.put(result, replace(mark, addends=(), operands=()))  # scores, heads last
            return True
        if not isinstance(mark, Softmax) or mark.weights.shape != tensor.shape:
            continue
        has_keys_last = mark.weights.stride(-1) == 1
        if equation is None:
            keeps_keys = not has_keys_last
        else:
            terms, _, out = equation.replace(" ", "").partition("->")
            keeps_keys = has_keys_last and terms.split(",")[place][-1] in out
        if keeps_keys:
            marks.put(result, mark)
            return True
    return False


def _after(mark: Product, scores: Tensor, marks: Marks, func: Any, args: Sequence[Any]) -> Product:
    """The same product with what is known to have been added after one more function."""
    mark = replace(mark, form=formed(mark.form, scores, func, args))
    if func in JOINING or func is F.pad:
        return replace(mark, n_before=n_before(scores, func, args))
    if func in ADDITIONS:
        others = [each for each in tensors_in(args) if each is not scores]
        other = marks.get(others[0]) if len(others) == 1 else None
        if len(others) != 1 or other is not None:  # an addend made of products
            return _beside(mark, other) if isinstance(other, Product) else mark
        sign = ADDITIONS[func]
        before = mark.addends if sign > 0 else ()  # a row's largest may be subtracted, or a mask
        return replace(mark, addends=(*before, Addend(others[0], sign)))
    return replace(mark, addends=carried(mark.addends, func, args)) if mark.addends else mark


def _beside(mark: Product, other: Product) -> Product:
    """One product of two that were added; one of them may be with embeddings of distances."""
    of_text = [each.source.reads_another is False for each in (mark, other)]
    has_others = of_text[0] != of_text[1] or mark.n_keys != other.n_keys or mark.has_others
    return replace(mark, source=(mark, other)[of_text[1]].source, has_others=has_others)


# The heads that a call gave, on their way to W_O: as they are, or times factors.

Layout = Callable[[Tensor], Tensor]
"""From a tensor of a pass to heads [H, Q, d_value]."""


@dataclass(eq=False)
class Given:
    """The heads of one call, until W_O meets them."""

    seen: Seen
    heads: Tensor
    """[H, Q, d_value], times the factor."""
    factor: Tensor | None = None
    """[H, 1, d_value], the same for all queries; None: they are as the call gave them."""
    summed: Tensor | None = None
    """The same with what was added to it."""
    earlier: list[tuple[Tensor, Tensor | None]] = field(default_factory=list)
    """Heads and factors before others were made of them: the pass may go on with either."""
    is_passed: bool = False
    """True: within the module that attended, a learned matrix has met something else since."""

    @property
    def columns(self) -> Tensor | None:
        """The factor of each column of W_O [H * d_value]."""
        return None if self.factor is None else self.factor.flatten()

    @property
    def is_changed(self) -> bool:
        """Tell whether something was added in place to what the call gave."""
        sample = self.seen.sample
        if sample is None or self.factor is not None:
            return False
        now, before = (each[:, _ends(each)] for each in (self.heads, sample.values))
        return not torch.equal(now, before)

    def scale(self, tensor: Tensor, by: object, result: Tensor, *, is_over: bool) -> bool:
        """Multiply the heads as the pass did, or divide them; False where rows have others.

        tensor: the heads as they met `by`. result: of it, the tensor itself where that was changed.
        """
        is_kept = self._go_back(lambda heads: self._layout(tensor, heads) is not None)
        layout = self._layout(tensor, self.heads) if is_kept else None
        factor = None if layout is None else _factor_given(by, tensor, layout)
        if layout is None or factor is None:
            return False
        n_heads, _, width = self.heads.shape
        if result is not tensor:
            self.earlier.append((self.heads, self.factor))
        self.heads = layout(result)
        factor = 1 / factor if is_over else factor
        before = 1.0 if self.factor is None else self.factor
        self.factor = (before * factor).expand(n_heads, 1, width)
        return True

    def has_met(self, joined: Tensor) -> bool:
        """Tell whether a matrix met the heads, as they are or were: these are the ones then."""
        return self._go_back(lambda heads: is_joined(joined, heads))

    def holds(self, tensor: Tensor) -> bool:
        """Tell whether a tensor is what the heads are or were."""
        return any(is_heads(tensor, heads) for heads, _ in self._all)

    @property
    def _all(self) -> list[tuple[Tensor, Tensor | None]]:
        return [(self.heads, self.factor), *reversed(self.earlier)]

    def _go_back(self, fits: Callable[[Tensor], bool]) -> bool:
        """Take the latest heads that fit as the heads; False where none do."""
        pair = next((pair for pair in self._all if fits(pair[0])), None)
        if pair is not None and pair[0] is not self.heads:
            self.earlier.append((self.heads, self.factor))
        if pair is not None:
            self.heads, self.factor = pair
        return pair is not None

    def add(self, tensor: Tensor, result: Tensor) -> None:
        """Something was added to the heads as a tensor holds them, which gave a result."""
        layout = self._layout(tensor, self.heads)
        if layout is not None and result.shape == tensor.shape:
            self.summed = layout(result)

    def _layout(self, tensor: Tensor, heads: Tensor) -> Layout | None:
        """Find the way in which a tensor holds heads: each by itself, turned over, or joined."""
        n_heads, n_queries, width = heads.shape
        if tensor.numel() != heads.numel():
            return None

        def of_maps(tensor: Tensor) -> Tensor:
            return tensor.reshape(n_heads, n_queries, width)

        def of_rows(tensor: Tensor) -> Tensor:
            return tensor.reshape(n_queries, n_heads, width).transpose(0, 1)

        def of_turned(tensor: Tensor) -> Tensor:
            return tensor.reshape(n_heads, width, n_queries).mT

        layouts = (of_rows, of_maps, of_turned)
        return next((it for it in layouts if _is_equal(it(tensor), heads)), None)


def put_together(whole: Seen, outputs: Sequence[Given], axis: int) -> Given:
    """Join what several calls gave, as that of one. axis: 0, of the heads, or -1, of the values."""
    samples = [each.seen.sample for each in outputs if each.seen.sample is not None]
    if len(samples) == len(outputs):
        values = torch.cat([each.values for each in samples], axis)
        whole.sample = Sample(samples[0].queries, values)
    heads = torch.cat([each.heads for each in outputs], axis)
    if all(each.factor is None for each in outputs):
        return Given(whole, heads)
    ones = (torch.ones_like(each.heads[:, :1]) for each in outputs)
    factors = [
        one if each.factor is None else one * each.factor
        for one, each in zip(ones, outputs, strict=True)
    ]
    return Given(whole, heads, torch.cat(factors, axis))


def _factor_given(by: object, tensor: Tensor, layout: Layout) -> Tensor | None:
    """Find the factor of all heads [], or of each number of them [H, 1, d_value]; None: neither."""
    if not isinstance(by, Tensor):
        return torch.tensor(by, dtype=torch.float64, device="cpu")
    if by.numel() == 1:
        return by.detach().reshape(())
    is_of_rows = by.numel() == tensor.numel()
    if is_of_rows or torch.broadcast_shapes(tensor.shape, by.shape) != tensor.shape:
        return None
    factors = layout(by.detach().expand(tensor.shape))
    first = factors[:, :1]
    return first if torch.equal(first.expand_as(factors), factors) else None


def is_heads(tensor: Tensor, heads: Tensor) -> bool:
    """Tell whether it holds what heads [H, Q, d_value] gave, beside each other or not."""
    if tensor.dim() < 2 or tensor.numel() != heads.numel():
        return False
    if storage(tensor) == storage(heads) or is_joined(tensor, heads):
        return True
    return tensor.shape[-3:] == heads.shape and _is_equal(tensor.view(heads.shape), heads)


def is_joined(joined: Tensor, heads: Tensor) -> bool:
    """Tell whether the rows of joined [..., H * d_value] are those of heads [H, Q, d_value]."""
    n_heads, n_queries, d_value = heads.shape
    width = n_heads * d_value
    if joined.size(-1) != width or joined.numel() != width * n_queries:
        return False
    is_same = joined.data_ptr() == heads.data_ptr() and joined.is_contiguous()
    if is_same and heads.stride() == (d_value, width, 1):  # never copied
        return True
    return _is_equal(joined.reshape(n_queries, n_heads, d_value).transpose(0, 1), heads)


def _is_equal(one: Tensor, other: Tensor) -> bool:
    """Tell whether [H, Q, d] are the same bit for bit: first the two rows that differ soonest."""
    ends = _ends(one)
    pairs = ((one[:, ends], other[:, ends]), (one, other))
    return all(torch.equal(a, b.to(a.dtype)) for a, b in pairs)


def _ends(heads: Tensor) -> slice:
    """The first and the last row."""
    return slice(None, None, max(heads.size(1) - 1, 1))
