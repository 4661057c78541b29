"""Attention that a model computes by hand: product, softmax over the keys, product with values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer.recording import WeightsCall
from transformer.recording.calls import Firsts
from transformer.watch.calls.fused import covered_by_scores
from transformer.watch.calls.marks import (
    Addend,
    Marks,
    Origin,
    Product,
    Softmax,
    covered_by,
)
from transformer.watch.calls.sinks import rest_of
from transformer.watch.capture.homes import Homes
from transformer.watch.capture.sources import UNKNOWN
from transformer.watch.capture.tensors import tensors_in

# Attention that a model computes by hand: product, softmax over the keys, product with values.
#
# What tells it from other softmaxes is where its input comes from and where its output goes. The
# input descends from a product of two activations, of which the one that makes the keys is
# nothing learned (a router's or a classifier's logits come from a learned matrix); the output, or
# what dropout and reshaping make of it, is multiplied with values, one for each key. Where no
# softmax of torch's was called, the numbers tell: none is negative, and those of a query sum to
# 1.


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
        sink = None if self.softmax.sink is None else self._maps(self.softmax.sink)[..., :1]
        if _same(weights, before, closed):
            return _call(weights, _mask(closed, len(weights)), self.v, sink), None
        call = _call(weights, _mask(closed, len(weights)), self.v)
        return call, _call(before, _mask(closed, len(before)), None, sink)

    @cached_property
    def uncovered(self) -> Tensor | None:
        """bool [H, Q, K]: the cells that no mask closes or covers; None: all, or not known."""
        scores, weights = self._maps(self.softmax.scores), self._maps(self.weights)
        if scores.shape[1:] != weights.shape[1:]:
            return None
        both = covered_by_scores(scores), covered_by(self.addends, scores.shape)
        covered = [each for each in both if each is not None]
        if covered:
            return ~(covered[0] | covered[-1])
        return open_by_zeros(weights) if self.softmax.is_masked else None

    def _maps(self, weights: Tensor) -> Tensor:
        """[..., Q, K] -> [H, Q, K]"""
        if self.order is not None and weights.dim() == len(self.order):
            weights = weights.permute(self.order)
        return weights.flatten(0, -3) if weights.dim() > 2 else weights[None]


def added_by(operands: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Addend, ...]:
    """List what baddbmm adds to the product that it makes."""
    tensors, beta = list(tensors_in(operands)), float(kwargs.get("beta", 1.0))
    return (Addend(tensors[0], beta),) if len(tensors) == 3 and beta else ()


def closed_cells(uncovered: Tensor, weights: Tensor) -> Tensor:
    """bool: of the cells that a mask covers, those to which the softmax gave exactly 0."""
    return ~uncovered & (weights == 0)


def open_by_zeros(weights: Tensor) -> Tensor | None:
    """bool [1, Q, K]: the cells that are not after each query's own, if all those are 0; else None.

    Weights [H, Q, K] may be masked after their softmax, or it may be written out, so that no score
    shows a mask. Of two queries one cell alone would tell.
    """
    n_queries, n_keys = weights.shape[1:]
    causal = weights.new_ones(1, n_queries, n_keys, dtype=torch.bool).tril(n_keys - n_queries)
    is_causal = 2 < n_queries <= n_keys and not bool(weights.masked_fill(causal, 0).any())
    return causal if is_causal else None


def _call(
    weights: Tensor, mask: Tensor | None, v: Tensor | None, sink: Tensor | None = None
) -> WeightsCall:
    """sink: the share of one [H, Q, 1], which becomes the last key: open, and of value 0."""
    v = _values(v, *weights.shape[::2])
    if sink is not None:
        weights, v = torch.cat([weights, sink], -1), F.pad(v, (0, 0, 0, 1))
        mask = None if mask is None else F.pad(mask, (0, 1), value=True)
    n_heads, n_queries, n_keys = weights.shape
    return WeightsCall(
        q=weights.new_empty(n_heads, n_queries, 0),
        k=weights.new_empty(n_heads, n_keys, 0),
        v=v,
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
    return torch.empty(n_heads, n_keys, 0, device="cpu")


def met_values(marks: Marks, operands: list[Any], result: Tensor) -> HandMade | None:
    """The attention that a product ends: operands is (equation, a, b) of an einsum, or (a, b)."""
    equation = operands[0] if isinstance(operands[0], str) else None
    tensors = list(tensors_in(operands))
    if len(tensors) != 2:
        return None
    places = (0, 1) if equation is not None else (0,)
    for place in places:
        weights, other = tensors[place], tensors[1 - place]
        mark = marks.get(weights)
        if isinstance(mark, Product) and marks.get(other) is None:  # a map of a map is no value
            weights, equation = _keys_last(weights, other, result, equation, place)
            mark = _written_out(mark, weights, other, equation)
        is_other = isinstance(marks.get(other), Softmax)
        if isinstance(mark, Softmax) and not mark.origin.is_used and not is_other:
            made = _ordered(mark, weights, other, result, equation, place)
            mark.origin.is_used = made is not None
            return made
    return None


def _keys_last(
    w: Tensor, v: Tensor, result: Tensor, equation: str | None, place: int
) -> tuple[Tensor, str | None]:
    """Move the axis over which an einsum sums weights and values to the weights' end."""
    if equation is None:
        return w, None
    of_w, of_v, out = _letters(equation, w, v, result, place)
    keys = [letter for letter in of_w if letter in of_v and letter not in out]
    if len(keys) != 1 or of_w[-1] == keys[0]:
        return w, equation
    rest = [letter for letter in of_w if letter != keys[0]]
    terms = ["".join((*rest, *keys)), of_v]
    order = [of_w.index(letter) for letter in terms[0]]
    return w.permute(order), f"{','.join(terms if place == 0 else terms[::-1])}->{out}"


def _written_out(mark: Product, w: Tensor, v: Tensor, equation: str | None) -> Softmax | None:
    """A softmax in other words: weights [..., Q, K] that are shares of their keys, for each query.

    None where they are none, or have not a value [..., K, d_value] each.
    """
    is_of_keys = w.dim() > 1 < v.dim() and (equation or w.size(-1) == v.size(-2))
    if not is_of_keys or not w.is_floating_point():
        return None
    sink = rest_of(mark.form, w) if w.size(-1) == mark.n_keys else None
    if sink is None and not are_shares(w):
        return None
    origin = mark.origin or Origin("", (w.size(-2), w.size(-1)), mark.is_picked)
    origin.is_written_out = True
    origin.product = mark
    if mark.n_moves == 0:
        origin.source, origin.firsts, origin.homes = mark.source, mark.firsts, mark.homes
    elif mark.n_moves == 1:  # a product of keys with queries, turned round
        is_of_both = mark.source.reads_another is False
        origin.source = mark.source if is_of_both else UNKNOWN
        origin.firsts = Firsts(mark.firsts.key, mark.firsts.query)
        origin.homes = None if mark.homes is None else Homes(mark.homes.keys, mark.homes.queries)
    return Softmax(w, w, sink=sink, origin=origin, is_masked=mark.is_masked)


def have_other_sums(marks: Marks, operands: Sequence[Any]) -> bool:
    """Tell whether a product looks like one of weights with values, whose sums are not 1.

    As those of sigmoid attention and of linear attention are.
    """
    if isinstance(operands[0], str):
        return False
    w, v = operands[:2]
    mark = marks.get(w)
    if not isinstance(mark, Product) or not 1 < w.dim() <= 4 or v.dim() < 2:
        return False
    fits = 1 < mark.n_keys == w.size(-1) == v.size(-2)
    return fits and bool((w >= 0).all()) and bool((v < 0).any())


def are_shares(weights: Tensor) -> bool:
    """Tell whether no number is negative and all of the last axis sum to 1."""
    weights = weights.detach()
    rough = 1e-3 if weights.dtype in (torch.float32, torch.float64) else 2e-2
    return bool((weights >= 0).all()) and bool(((weights.float().sum(-1) - 1).abs() <= rough).all())


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
