"""Attention that a model computes by hand: product, softmax over the keys, product with values.

What tells it from other softmaxes is where its input comes from and where its output goes. The
input descends from a product of two activations, of which the one that makes the keys is nothing
learned (a router's or a classifier's logits come from a learned matrix); the output, or what
dropout and reshaping make of it, is multiplied with values, one for each key.
"""

import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from transformer.recording import WeightsCall
from transformer.watch.addends import ADDITIONS, Addend, carried
from transformer.watch.fused import is_closed


@dataclass(eq=False)
class Softmax:
    """A softmax whose input came from a product of queries and keys."""

    weights: Tensor
    """As it gave them [..., Q, K], without the column of a sink."""
    scores: Tensor
    """Of the same shape."""
    addends: tuple[Addend, ...] = ()
    origin: "Origin" = field(default_factory=lambda: Origin())


@dataclass(eq=False)
class Origin:
    """What a softmax and all that was made of it have in common."""

    path: str = ""
    """Of the module."""
    sizes: tuple[int, int] = (0, 0)
    """Its last two: queries and keys, in most code."""
    is_picked: bool = False
    """Whether queries or keys were picked out of a sequence."""
    is_used: bool = False
    """Whether it has met its values."""
    is_of_blocks: bool = False
    """Whether it met them block by block."""


@dataclass(frozen=True)
class Product:
    """A product of two activations, which may become scores."""

    n_keys: int
    addends: tuple[Addend, ...] = ()
    """What was added on the way from there."""
    is_picked: bool = False
    """Whether queries or keys were picked out of a sequence."""


class Marks:
    """What is known of tensors, for as long as they live and without keeping them alive."""

    def __init__(self) -> None:
        self._marks: dict[int, tuple[weakref.ref[Tensor], Product | Softmax]] = {}

    def __bool__(self) -> bool:
        return bool(self._marks)

    def put(self, tensor: Tensor, mark: Product | Softmax) -> None:
        key, marks = id(tensor), self._marks
        marks[key] = (weakref.ref(tensor, lambda _: marks.pop(key, None)), mark)

    def get(self, tensor: Any) -> Product | Softmax | None:
        known = self._marks.get(id(tensor))
        return known[1] if known is not None and known[0]() is tensor else None


def tensors_in(args: Iterable[Any]) -> Iterator[Tensor]:
    """The tensors among arguments, in order, and in lists among them."""
    for argument in args:
        if isinstance(argument, Tensor):
            yield argument
        elif isinstance(argument, list | tuple):
            yield from (each for each in argument if isinstance(each, Tensor))


def inherited(
    marks: Marks, func: Any, result: Tensor, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> None:
    """Hand on what is known of an argument to what a function made of it."""
    for tensor in tensors_in((*args, *kwargs.values())):
        mark = marks.get(tensor)
        if mark is None:
            continue
        if isinstance(mark, Product):
            given = (*args, *kwargs.values())
            together = func in _JOINING and _together(marks, given, result)
            marks.put(result, together or _after(mark, tensor, marks, func, given))
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


_JOINING = frozenset({torch.cat, torch.concat, torch.concatenate})


def _together(marks: Marks, given: Sequence[Any], result: Tensor) -> Product | None:
    """Products with keys of several sorts that were put side by side; None where they were not."""
    found = [marks.get(tensor) for tensor in tensors_in(given)]
    widths = [each.n_keys for each in found if isinstance(each, Product)]
    return (
        Product(sum(widths))
        if len(widths) == len(found) and sum(widths) == result.size(-1)
        else None
    )


_ARRANGING = frozenset(
    {
        *(Tensor.view, Tensor.reshape, torch.reshape, Tensor.flatten, torch.flatten),
        *(Tensor.unflatten, torch.unflatten, Tensor.squeeze, torch.squeeze),
        *(Tensor.unsqueeze, torch.unsqueeze, Tensor.permute, torch.permute, Tensor.transpose),
        *(torch.transpose, Tensor.movedim, torch.movedim, Tensor.swapaxes, torch.swapaxes),
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
        if len(others) != 1 or marks.get(others[0]) is not None:  # an addend made of products
            return mark
        return replace(mark, addends=(*mark.addends, Addend(others[0])))
    return replace(mark, addends=carried(mark.addends, func, args)) if mark.addends else mark


@dataclass(frozen=True, eq=False)
class HandMade:
    """A product of weights with values, its axes in the order of attention."""

    softmax: Softmax
    weights: Tensor
    """[..., Q, K] once in order, as they met the values."""
    v: Tensor | None
    """[..., K, d_value]; None where its axes are not understood."""
    result: Tensor
    """[..., Q, d_value]"""
    order: tuple[int, ...] | None = None
    """How the axes were put into that order; None: they came so."""

    @property
    def addends(self) -> tuple[Addend, ...]:
        return self.softmax.addends if self.order is None else ()

    def calls(self) -> tuple[WeightsCall, WeightsCall | None]:
        """What met the values, and the softmax where that is something else; for one sequence."""
        weights, before, scores = map(
            self._maps, (self.weights, self.softmax.weights, self.softmax.scores)
        )
        if before.shape[1:] != weights.shape[1:]:  # moved in a way that is not followed
            return _call(weights, None, self.v), None
        call = _call(weights, _mask(scores, len(weights)), self.v)
        if _same(weights, before, scores):
            return call, None
        return call, _call(before, _mask(scores, len(before)), None)

    def _maps(self, weights: Tensor) -> Tensor:
        """[..., Q, K] -> [H, Q, K]"""
        if self.order is not None and weights.dim() == len(self.order):
            weights = weights.permute(self.order)
        return weights.flatten(0, -3) if weights.dim() > 2 else weights[None]


def _call(weights: Tensor, mask: Tensor | None, v: Tensor | None) -> WeightsCall:
    n_heads, n_queries, n_keys = weights.shape
    return WeightsCall(
        q=weights.new_empty(n_heads, n_queries, 0),
        k=weights.new_empty(n_heads, n_keys, 0),
        v=_values(v, n_heads, n_keys),
        mask=mask,
        scale=1.0,
        is_causal=False,
        has_output=False,
        given=weights,
    )


def _same(weights: Tensor, before: Tensor, scores: Tensor) -> bool:
    """Whether the values met what the softmax gave; in cells that a mask closes all is the same."""
    if weights.shape != before.shape:
        return False
    if weights.data_ptr() == before.data_ptr() and weights.stride() == before.stride():
        return True
    differs = weights != before.to(weights.dtype)
    return not bool((differs & ~is_closed(scores)).any())


def _mask(scores: Tensor, n_heads: int) -> Tensor | None:
    """bool [1 or H, Q, K]; None where no cell is closed, or where heads differ and were mixed."""
    closed = is_closed(scores)
    if not bool(closed.any()):
        return None
    if bool((closed == closed[:1]).all()):
        return ~closed[:1]
    return ~closed if len(closed) == n_heads else None


def _values(v: Tensor | None, n_heads: int, n_keys: int) -> Tensor:
    """[G, K, d_value]; of no dimensions where they do not go with the heads."""
    if v is not None:
        v = v.reshape(-1, *v.shape[-2:])
        if n_heads % v.size(0) == 0:
            return v
    return torch.empty(n_heads, n_keys, 0)


def met_values(marks: Marks, operands: list[Any], result: Tensor) -> HandMade | None:
    """The attention that a product ends: operands is (equation, a, b) of an einsum, or (a, b)."""
    equation = operands[0] if isinstance(operands[0], str) else None
    tensors = list(tensors_in(operands))
    if len(tensors) != 2:
        return None
    places = (0, 1) if equation is not None else (0,)
    for place in places:
        mark, other = marks.get(tensors[place]), tensors[1 - place]
        is_other = isinstance(marks.get(other), Softmax)
        if isinstance(mark, Softmax) and not mark.origin.is_used and not is_other:
            made = _ordered(mark, tensors[place], other, result, equation, place)
            mark.origin.is_used = made is not None
            return made
    return None


def _ordered(
    mark: Softmax, w: Tensor, v: Tensor, result: Tensor, equation: str | None, place: int
) -> HandMade | None:
    n_keys = mark.weights.size(-1)
    if equation is None:
        if w.dim() < 2 or v.dim() < 2 or w.size(-1) != n_keys or v.size(-2) != n_keys:
            return None
        if w.dim() > 4 and v.size(-3) != 1:  # blocks of a sequence, and no groups of heads
            mark.origin.is_of_blocks = True
            return None
        return HandMade(mark, w, v, result)
    of_w, of_v, out = _letters(equation, w, v, result, place)
    key, asking = of_w[-1:], [letter for letter in of_w[:-1] if letter not in of_v]
    if w.size(-1) != n_keys or key not in of_v or key in out or not asking:
        return None
    shared = [letter for letter in of_w[:-1] if letter in of_v]
    if len(shared) > 2:
        mark.origin.is_of_blocks = True
        return None
    rest = [letter for letter in of_v if letter not in of_w]
    wanted = tuple(of_w.index(letter) for letter in (*shared, *asking, key))  # groups, queries
    order = [of_v.index(letter) for letter in (*shared, key, *rest)]
    places = [out.find(letter) for letter in (*shared, *asking, *rest)]
    is_whole = sorted(places) == list(range(result.dim()))
    return HandMade(
        mark,
        w,
        v.permute(order) if len(order) == v.dim() and len(rest) == 1 else None,
        result.permute(places) if is_whole else result,
        wanted if wanted != tuple(sorted(wanted)) else None,
    )


def _letters(equation: str, w: Tensor, v: Tensor, result: Tensor, place: int) -> tuple[str, ...]:
    """The axes of weights, values and result in an einsum; those that dots stand for as digits."""
    terms, _, out = equation.replace(" ", "").partition("->")
    both = terms.split(",")
    written = zip((both[place], both[1 - place], out), (w, v, result), strict=True)
    return tuple(
        term.replace("...", "0123456789"[10 - tensor.dim() + len(term.replace("...", "")) :])
        for term, tensor in written
    )
