"""Watching attention that a model computes by hand, and torch's flex attention, as they run."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer.recording import WeightsCall
from transformer.recording.calls import Firsts
from transformer.watch.calls.by_hand import (
    HandMade,
    added_by,
    are_shares,
    have_other_sums,
    met_values,
)
from transformer.watch.calls.following import Sequences
from transformer.watch.calls.fused import FLEX, flex_weights
from transformer.watch.calls.layer import Layer
from transformer.watch.calls.marks import (
    Marks,
    Origin,
    Product,
    Softmax,
    bias_of,
    mixed,
)
from transformer.watch.calls.seen import Seen, later_keys_are_closed, one_of_batch
from transformer.watch.calls.sinks import SINK
from transformer.watch.capture.followed import Followed
from transformer.watch.capture.homes import Homes, both, fitting, no_homes, with_sinks
from transformer.watch.capture.operators import ALWAYS, register, register_made_of_python, watching
from transformer.watch.capture.place import Place, Places, Running
from transformer.watch.capture.sources import READS, UNKNOWN, first_rows
from transformer.watch.capture.tensors import Held, tensors_in
from transformer.watch.capture.turns import Ends, ends_of

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
        is_first = None if mark.n_before is None else mark.n_before > 0
        origin = Origin(path, sizes, mark.is_picked, has_sink, is_first)
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
        if not result.numel():  # of half a batch, where that is one text
            return
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
            addends = added_by(args, kwargs)
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
        is_of_one = self._is_of_one(made.weights, place)
        if not is_of_one and self._is_of_windows(made.weights, place):
            return
        if not is_of_one:
            one_of_batch(self.folded(made.weights), place.path)  # raises for a batch
        call, softmax = made.calls()
        call = replace(call, v=self._lasting(call.v))
        n_heads, n_queries, n_keys = call.given.shape
        n_words = made.weights.size(-1) if made.softmax.sink is not None else n_keys
        added = (SINK,) * (n_keys - n_words)
        is_causal = later_keys_are_closed(made.uncovered, n_queries, n_words)
        folded = made.weights.dim() == 3
        self._turn_back(made)
        addends = made.addends  # not made itself, which holds the scores too

        @cache
        def make() -> WeightsCall:
            bias = bias_of(addends, (n_heads, n_queries, n_words))
            return replace(call, bias=bias if bias is None else F.pad(bias, (0, len(added))))

        sizes = n_heads, n_queries, n_keys
        seen = Seen(place, sizes, make, is_causal, place.reads_another, is_folded=folded)
        seen.added = added
        seen.is_picked = made.softmax.origin.is_picked
        seen.softmax, seen.order = made.softmax.origin, made.order
        seen.is_of_products = made.softmax.origin.is_of_products
        source = made.softmax.origin.source
        if source.reads_another is None and made.v is not None:  # keys were turned, values are not
            source = self._layer.sources.made(made.result, made.v, made.v, running.is_given)
        seen.source = source
        seen.trace = self._traces.trace(
            place,
            (n_queries, n_words),
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
            before = len(softmax.given), n_queries, softmax.given.size(-1)
            added = (SINK,) * (before[-1] - n_words)
            beside = replace(seen, sizes=before, make=lambda: softmax, is_softmax=True, added=added)
            self.seen.append(beside)

    def _turn_back(self, made: HandMade) -> None:
        """Take the first of a product for its keys where values are of those: it was turned."""
        origin = made.softmax.origin
        if self.homes is None or origin.homes is None or made.v is None:
            return
        queries, keys = (each.tolist() for each in origin.homes)
        if queries != keys and queries == self.homes.rows(made.v).tolist():
            origin.homes = Homes(*origin.homes[::-1])
            origin.firsts = Firsts(origin.firsts.key, origin.firsts.query)
            origin.source = UNKNOWN

    def _homes_of(self, made: HandMade, sizes: Sequence[int]) -> Homes | None:
        """The homes of queries by the scores; of keys by the values, too."""
        if self.homes is None:
            return None
        _, n_queries, n_keys = sizes
        of_values = None if made.v is None else self.homes.rows(made.v)
        homes = made.softmax.origin.homes
        if homes is not None:
            keys = homes.keys if of_values is None else of_values
            keys = both(homes.keys, keys) if len(keys) == len(homes.keys) else keys
            return fitting(homes.queries, with_sinks(keys, n_keys), n_queries, n_keys)
        keys = no_homes(n_keys) if of_values is None else with_sinks(of_values, n_keys)
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

    def _is_of_one(self, weights: Tensor, place: Place) -> bool:
        """Tell whether all axes before [Q, K] are of heads: of groups, and of those in a group.

        The module was given one sequence as long, and matrices have read no more rows than that.
        """
        n_queries = weights.size(-2)
        read = (each.tensor for each in self._layer.sources.latest(READS))
        rows = {each.numel() // each.size(-1) for each in read if each.numel()}
        n_sequences = weights.size(0)
        is_one = weights.dim() > 3 and n_queries in place.lengths
        return is_one and n_sequences * n_queries not in rows

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
        if self.homes is not None:
            self.homes.is_open = False
        self._layer.note(seen, heads)
        self.tables.forget()


aten = torch.ops.aten
for _each in (aten.matmul, aten.bmm, aten.mm, aten.baddbmm, aten.einsum):
    register(_each.default, ALWAYS, Products._product)
register_made_of_python(FLEX, Products._flex)


def _followed(mode: Followed, *args: Any, **named: Any) -> Any:
    """Hand it to a mode: torch before 2.8 does so by a rule alone."""
    return mode.__torch_dispatch__(FLEX, (), args, named)


FLEX.py_impl(Followed)(_followed)
