"""Attention that a model computes by hand: product, softmax over the keys, product with values."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import torch
from torch import Tensor, nn

from transformer.recording import WeightsCall
from transformer.recording.calls import Firsts
from transformer.watch.calls.following import Sequences
from transformer.watch.calls.fused import FLEX, covered_by_scores, flex_weights
from transformer.watch.calls.layer import Layer
from transformer.watch.calls.marks import (
    Addend,
    Marks,
    Origin,
    Product,
    Softmax,
    bias_of,
    covered_by,
    mixed,
)
from transformer.watch.calls.seen import Seen, later_keys_are_closed, one_of_batch
from transformer.watch.capture.homes import Homes, both, fitting, no_homes
from transformer.watch.capture.operators import ALWAYS, register, register_made_of_python, watching
from transformer.watch.capture.place import Place, Places, Running
from transformer.watch.capture.sources import READS, UNKNOWN, first_rows
from transformer.watch.capture.tensors import Held, tensors_in
from transformer.watch.capture.turns import Ends, ends_of

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
        call = _call(weights, _mask(closed, len(weights)), self.v)
        if _same(weights, before, closed):
            return call, None
        return call, _call(before, _mask(closed, len(before)), None)

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


def _added_by(operands: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Addend, ...]:
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
    if not is_of_keys or not w.is_floating_point() or not are_shares(w):
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
    return Softmax(w, w, origin=origin, is_masked=mark.is_masked)


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


# Watching attention that a model computes by hand, and torch's flex attention, as they run.


_PROJECTIONS = 8
"""Matrices of a layer among which are those of queries and keys: latents and an indexer, too."""


class Products(Sequences):
    """Follows products of activations until they are weights that meet values."""

    def __init__(
        self,
        paths: Mapping[nn.Module, str],
        inputs: Iterable[object],
        copies: bool,
        is_one: bool,
        *,
        is_for_edits: bool,
    ) -> None:
        """Take what a watcher takes, but paths: every module of the model -> its path."""
        super().__init__(paths, inputs, is_for_edits=is_for_edits)
        self._copies, self._is_one = copies, is_one
        self._held = Held(paths, inputs)
        self._marks = Marks()
        self._layer = Layer(self._held, paths)
        self._places = Places(paths, inputs)
        self.windows: dict[str, tuple[int, int]] = {}
        """Path of a module that reads one sequence as several -> how many, of how many queries."""
        self.softmaxes: list[Origin] = []
        """The softmaxes over products of activations."""
        self.turned_softmaxes: list[Origin] = []
        """The same over another axis than the last."""
        self.sums: set[str] = set()
        """Paths of modules whose weights, as they look, do not sum to 1."""

    def _softmax(self, result: Any, args: Any, kwargs: Any) -> bool:
        """Note down a softmax over products; tell whether it runs over their keys."""
        scores = next(tensors_in((*args, *kwargs.values())))
        axis = kwargs.get("dim", args[1] if len(args) > 1 else None)
        mark = self._marks.get(scores)
        if not isinstance(mark, Product) or scores.size(-1) - mark.n_keys not in (0, 1):
            return False
        sizes = scores.size(-2), scores.size(-1)
        has_sink = scores.size(-1) > mark.n_keys
        path = self._places.here(Running(), -1, sizes[0]).path
        origin = Origin(path, sizes, mark.is_picked, has_sink)
        origin.source, origin.firsts, origin.homes = mark.source, mark.firsts, mark.homes
        origin.product = mark
        if axis not in (-1, scores.dim() - 1):
            self.turned_softmaxes.append(origin)
            self._marks.put(scores, replace(mark, origin=origin))
            return False
        self.softmaxes.append(origin)
        self._edit_weights(origin, scores, result, mark.addends)
        self._marks.put(result, Softmax(result, scores, mark.addends, origin))
        return True

    def _any_softmax(self, args: Any, result: Tensor) -> None:
        """Note down one over other scores than products: additive attention has a tanh of a sum."""
        scores, axis = args[:2]
        is_last = axis in (-1, result.dim() - 1) and result.dim() > 2
        if is_last and not isinstance(self._marks.get(scores), Product):
            sizes = result.size(-2), result.size(-1)
            origin = Origin("", sizes, is_written_out=True, is_of_products=False)
            self._marks.put(result, Softmax(result, scores, origin=origin))
            self._watch_functions()

    def _product(self, args: Any, kwargs: Any, result: Tensor) -> None:
        made = None
        if self._marks:
            is_learned = any(map(self._held.is_learned, tensors_in(args)))
            if is_learned and mixed(self._marks, result, args):
                return
            made = met_values(self._marks, args, result)
            if made is None and have_other_sums(self._marks, args):
                self.sums.add(self._places.here(Running(), -1, result.size(-2)).path)
        if made is not None and self._is_attention(made, args):
            self._by_hand(made)
        elif self._held.are_activations(args, result):
            is_picked = self._are_picked(args, result.shape[-2:])
            q, k = [*tensors_in(args)][-2:]
            source = self._layer.sources.made(q, k, None, Running().is_given)
            addends = _added_by(args, kwargs)
            firsts = first_rows(args, result)
            of = tuple(tensors_in(args))[-2:]
            operands = (args[0], *of) if isinstance(args[0], str) else of
            mark = Product(result.size(-1), addends, is_picked, source, firsts, operands=operands)
            if self.homes is not None:
                before = [self._marks.get(each) for each in of]
                mixed_heads = [
                    it.homes
                    for it, other in zip(before, of[::-1], strict=True)
                    if isinstance(it, Product) and not self.homes.has_text(other)
                ]
                homes = mixed_heads[0] if mixed_heads else self.homes.of_product(args, result)
                mark = replace(mark, homes=homes)
            self._marks.put(result, mark)
            self._watch_functions()
        else:
            self._layer.matrix(args, result)

    def _is_attention(self, made: HandMade, args: Any) -> bool:
        """Tell whether values are what the pass has made of a text, if scores do not say so.

        What routers and mixtures weigh is learned, or another one for each token. So of scores
        that are no products only one head [1, Q, K] is taken: [1, T, n, n] may be T mixtures.
        """
        w, origin = made.weights, made.softmax.origin
        is_whole = w.dim() == 3 and w.size(0) == 1 and w.shape[-2:] == origin.sizes
        tensors = [*tensors_in(args)]
        is_text = not any(map(self._held.is_learned, tensors)) and not any(
            isinstance(self._marks.get(each), Product) for each in tensors
        )
        return origin.is_of_products or (is_whole and is_text and are_shares(w))

    def _by_hand(self, made: HandMade) -> None:
        width = -1 if made.v is None else made.v.size(-1)
        running = Running()
        place = self._places.here(running, width, made.weights.size(-2))
        if self._is_of_windows(made.weights, place):
            return
        one_of_batch(self.folded(made.weights), place.path)  # raises for a batch
        call, softmax = made.calls()
        call = replace(call, v=self._lasting(call.v))
        n_heads, n_queries, n_keys = call.given.shape
        sizes = n_heads, n_queries, n_keys
        is_causal = later_keys_are_closed(made.uncovered, n_queries, n_keys)
        folded = made.weights.dim() == 3
        addends = made.addends  # not made itself, which holds the scores too
        make = cache(lambda: replace(call, bias=bias_of(addends, sizes)))
        seen = Seen(place, sizes, make, is_causal, place.reads_another, is_folded=folded)
        seen.is_picked = made.softmax.origin.is_picked
        seen.softmax, seen.order = made.softmax.origin, made.order
        seen.is_of_products = made.softmax.origin.is_of_products
        source = made.softmax.origin.source
        if source.reads_another is None and made.v is not None:  # keys were turned, values are not
            source = self._layer.sources.made(made.result, made.v, made.v, running.is_given)
        seen.source = source
        seen.trace = self._traces.trace(
            place,
            sizes[1:],
            self._layer.sources.latest(READS),
            running.is_given,
            seen.softmax.firsts,
        )
        seen.homes = self._homes_of(made, sizes)
        if seen.homes is not None and self.homes is not None:
            self.homes.give_rows(made.result, seen.homes.queries)
        if made.softmax.origin.is_of_products:
            product = made.softmax.origin.product
            operands = () if product is None else product.operands
            seen.has_others = product is not None and product.has_others
            made.softmax.origin.product = None  # it holds whole queries and keys
            seen.ends = self._ends(seen, [*tensors_in(operands), call.v], operands)
        self._edit(seen, made.result)
        self._note(seen, made.result.reshape(n_heads, n_queries, -1))
        if softmax is not None:
            before = len(softmax.given), n_queries, n_keys
            self.seen.append(replace(seen, sizes=before, make=lambda: softmax, is_softmax=True))

    def _homes_of(self, made: HandMade, sizes: Sequence[int]) -> Homes | None:
        """The homes of queries by the scores; of keys by the values, too."""
        if self.homes is None:
            return None
        _, n_queries, n_keys = sizes
        of_values = None if made.v is None else self.homes.rows(made.v)
        homes = made.softmax.origin.homes
        if homes is not None:
            if len(homes.keys) == n_queries == 1 < n_keys == len(homes.queries):
                homes = Homes(homes.keys, homes.queries)  # a product of keys with one query
            keys = homes.keys if of_values is None else both(homes.keys, of_values)
            return fitting(homes.queries, keys, n_queries, n_keys)
        keys = no_homes(n_keys) if of_values is None else of_values
        read = (each.tensor for each in self._layer.sources.latest(READS))
        queries = self.homes.of_readings(read, n_queries, keys)
        return fitting(no_homes(n_queries) if queries is None else queries, keys, n_queries, n_keys)

    def _flex(self, args: Any, kwargs: Any, result: Any) -> None:
        """torch's flex attention: its scores are what a function of the model's makes of them."""
        with watching(None):
            scores, weights, value = flex_weights(*args, **kwargs)
        origin = Origin("", (weights.size(-2), weights.size(-1)), is_written_out=True)
        q, k, v = args[:3]
        origin.source = self._layer.sources.made(q, k, v, Running().is_given)
        origin.firsts = first_rows((q, k.mT), scores)
        if self.homes is not None:
            origin.homes = Homes(self.homes.rows(q), self.homes.rows(k))
        origin.product = Product(scores.size(-1), operands=(q, k.mT))
        self._by_hand(HandMade(Softmax(weights, scores, origin=origin), weights, value, result[0]))

    def _is_of_windows(self, tensor: Tensor, place: Place) -> bool:
        """Tell whether a call reads several sequences where the model was given one."""
        windows = place.windows(tensor) if self._is_one else None
        if windows is not None:
            self.windows[place.path] = windows
        return windows is not None

    def _lasting(self, tensor: Tensor) -> Tensor:
        return tensor.clone() if self._copies else self._held.lasting(tensor)

    def _ends(self, seen: Seen, made: Sequence[Tensor], operands: Sequence[Any] = ()) -> Ends:
        """Keep what its queries and keys were made of. made: these, or those of a product by hand,
        and values.
        """
        _, n_queries, n_keys = seen.sizes
        q, *others = made
        n_made = q.numel() // n_queries + sum(each.numel() for each in others) // n_keys
        reads = self._layer.sources.latest(_PROJECTIONS)
        return ends_of(n_queries, reads, seen.place.norms, n_made, operands)

    def _note(self, seen: Seen, heads: Tensor | None) -> None:
        self.seen.append(seen)
        self._layer.note(seen, heads)
        self.tables.forget()


aten = torch.ops.aten
for _each in (aten.matmul, aten.bmm, aten.mm, aten.baddbmm, aten.einsum):
    register(_each.default, ALWAYS, Products._product)
register_made_of_python(FLEX, Products._flex)
