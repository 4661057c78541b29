"""Attention that a model computes by hand: product, softmax over the keys, product with values.

What tells it from other softmaxes is where its input comes from and where its output goes. The
input descends from a product of two activations, of which the one that makes the keys is nothing
learned (a router's or a classifier's logits come from a learned matrix); the output, or what
dropout and reshaping make of it, is multiplied with values, one for each key.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from transformer.recording import WeightsCall
from transformer.watch.calls.addends import Addend, covered_by
from transformer.watch.calls.marks import Marks, Softmax
from transformer.watch.calls.masks import covered_by_scores
from transformer.watch.capture.tensors import tensors_in


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
    """The way the axes were put into that order; None: they came so."""

    @property
    def addends(self) -> tuple[Addend, ...]:
        return self.softmax.addends if self.order is None else ()

    def calls(self) -> tuple[WeightsCall, WeightsCall | None]:
        """Make the call that met the values, and the softmax where it is another; of one text."""
        weights, before = self._maps(self.weights), self._maps(self.softmax.weights)
        if before.shape[1:] != weights.shape[1:]:  # moved in a way that is not followed
            return _call(weights, None, self.v), None
        closed = None if self.uncovered is None else closed_cells(self.uncovered, before)
        call = _call(weights, _mask(closed, len(weights)), self.v)
        if _same(weights, before, closed):
            return call, None
        return call, _call(before, _mask(closed, len(before)), None)

    @cached_property
    def uncovered(self) -> Tensor | None:
        """bool [H, Q, K]: the cells that no mask closes or covers; None: all, or not known."""
        scores = self._maps(self.softmax.scores)
        if scores.shape[1:] != self._maps(self.weights).shape[1:]:
            return None
        both = covered_by_scores(scores), covered_by(self.addends, scores.shape)
        covered = [each for each in both if each is not None]
        return ~(covered[0] | covered[-1]) if covered else None

    def _maps(self, weights: Tensor) -> Tensor:
        """[..., Q, K] -> [H, Q, K]"""
        if self.order is not None and weights.dim() == len(self.order):
            weights = weights.permute(self.order)
        return weights.flatten(0, -3) if weights.dim() > 2 else weights[None]


def closed_cells(uncovered: Tensor, weights: Tensor) -> Tensor:
    """bool: of the cells that a mask covers, those to which the softmax gave exactly 0."""
    return ~uncovered & (weights == 0)


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


def _same(weights: Tensor, before: Tensor, closed: Tensor | None) -> bool:
    """Tell whether values met what the softmax gave; cells that a mask closes do not count."""
    if weights.shape != before.shape:
        return False
    if weights.data_ptr() == before.data_ptr() and weights.stride() == before.stride():
        return True
    differs = weights.nan_to_num(-1) != before.to(weights.dtype).nan_to_num(-1)
    return not bool((differs if closed is None else differs & ~closed).any())


def _mask(closed: Tensor | None, n_heads: int) -> Tensor | None:
    """bool [1 or H, Q, K]; None where no cell is closed, or where heads differ and were mixed."""
    if closed is None:
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
    matrices = zip((both[place], both[1 - place], out), (w, v, result), strict=True)
    return tuple(
        term.replace("...", "0123456789"[10 - tensor.dim() + len(term.replace("...", "")) :])
        for term, tensor in matrices
    )
