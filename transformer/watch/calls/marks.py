"""Marks of tensors on their way from a product of queries and keys through a softmax.

A product of two activations is marked, and so is what functions make of it; a softmax over its
keys is, and what dropout, reshaping and a mixture of heads make of that. A softmax that is written
out (exp over its sum, say), or whose keys are not the last axis, is one more function after the
product: `by_hand` tells by its numbers what it has become.
"""

import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from transformer.recording.trace import NO_ROWS, Firsts
from transformer.watch.calls.addends import ADDITIONS, TIMES, Addend, carried
from transformer.watch.calls.masks import FAR
from transformer.watch.capture.sources import UNKNOWN, Made
from transformer.watch.capture.tensors import tensors_in


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
    origin: Origin | None = None
    """The one of a softmax over another axis than the last, if there was one."""
    is_masked: bool = False
    """True: cells were filled, or multiplied with 0."""
    n_moves: int = 0
    """The number of functions that may have put its axes into another order."""


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
            together = func in _JOINING and _together(marks, arguments, result)
            if func in _MOVING:
                mark = replace(mark, n_moves=mark.n_moves + 1)
            marks.put(result, together or _after(mark, tensor, marks, func, arguments))
            return
        if func in _ARRANGING and tensor is args[0] and tensor.shape == mark.weights.shape:
            rest = args[1:]
            weights, scores = (func(x, *rest, **kwargs) for x in (mark.weights, mark.scores))
            marks.put(result, replace(mark, weights=weights, scores=scores))
            return
        sinkless = _without_sink(mark, tensor, result)
        if sinkless is not None:
            marks.put(result, sinkless)
            return
        if result.numel() == tensor.numel() or result.shape[-2:] == mark.weights.shape[-2:]:
            marks.put(result, mark)
            return


def _masks(func: Any, tensor: Tensor, arguments: Sequence[Any]) -> bool:
    """Tell whether a function closes cells: it fills some, or multiplies them with 0."""
    if func in _FILLING:
        return True
    others = [each for each in tensors_in(arguments) if each is not tensor]
    if len(others) != 1 or others[0].dim() < 2 or not others[0].numel():
        return False
    if func in ADDITIONS:
        return float(others[0].amin()) <= -FAR or float(others[0].amax()) >= FAR
    return func in TIMES and bool(((others[0] == 0) | (others[0] == 1)).all())


_FILLING = frozenset(
    {
        *(Tensor.masked_fill, Tensor.masked_fill_, torch.masked_fill, torch.where, Tensor.where),
        *(Tensor.tril, Tensor.tril_, torch.tril),
    }
)
_JOINING = frozenset({torch.cat, torch.concat, torch.concatenate})


def _together(marks: Marks, arguments: Sequence[Any], result: Tensor) -> Product | None:
    """Products with keys of several sorts that were put side by side; None where they were not."""
    marks_there = [marks.get(tensor) for tensor in tensors_in(arguments)]
    widths = [each.n_keys for each in marks_there if isinstance(each, Product)]
    return (
        Product(sum(widths))
        if len(widths) == len(marks_there) and sum(widths) == result.size(-1)
        else None
    )


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


def _without_sink(mark: Softmax, weights: Tensor, result: Tensor) -> Softmax | None:
    """An attention sink takes part in the softmax as one more key, and is dropped after it.

    None where the result is not a softmax without its first or its last column.
    """
    if weights.shape != mark.weights.shape or result.dim() != weights.dim():
        return None
    n_keys = weights.size(-1) - 1
    if result.size(-1) != n_keys or result.shape[:-1] != weights.shape[:-1]:
        return None
    for rest in (slice(1, None), slice(n_keys)):
        if torch.equal(weights[..., rest], result):
            return replace(mark, weights=result, scores=mark.scores[..., rest])
    return None


def _after(mark: Product, scores: Tensor, marks: Marks, func: Any, args: Sequence[Any]) -> Product:
    """The same product with what is known to have been added after one more function."""
    if func in ADDITIONS:
        others = [each for each in tensors_in(args) if each is not scores]
        other = marks.get(others[0]) if len(others) == 1 else None
        if len(others) != 1 or other is not None:  # an addend made of products
            if isinstance(other, Product) and other.source.reads_another is False:
                return replace(mark, source=other.source)  # mark: a product with positions
            return mark
        sign = ADDITIONS[func]
        before = mark.addends if sign > 0 else ()  # a row's largest may be subtracted, or a mask
        return replace(mark, addends=(*before, Addend(others[0], sign)))
    return replace(mark, addends=carried(mark.addends, func, args)) if mark.addends else mark


def added_by(operands: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Addend, ...]:
    """List what baddbmm adds to the product that it makes."""
    tensors, beta = list(tensors_in(operands)), float(kwargs.get("beta", 1.0))
    return (Addend(tensors[0], beta),) if len(tensors) == 3 and beta else ()
