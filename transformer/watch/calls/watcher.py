"""The watcher: what one thread computes in one pass goes past it, unchanged."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cache, partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer.watch.calls.addends import bias_of
from transformer.watch.calls.by_hand import HandMade, met_values
from transformer.watch.calls.fused import (
    Splits,
    added_keys,
    fused_call,
    multi_head_call,
    multi_head_reads,
    multi_head_sample,
    parts,
    unpacked,
)
from transformer.watch.calls.layer import Layer
from transformer.watch.calls.marks import (
    Marks,
    Origin,
    Product,
    Softmax,
    added_by,
    inherited,
    mixed,
)
from transformer.watch.calls.seen import Seen, later_keys_are_closed, one_of_batch
from transformer.watch.calls.sequences import Sequences
from transformer.watch.capture.functions import ENDING, SOFTMAXES, Functions, as_indices
from transformer.watch.capture.held import Held
from transformer.watch.capture.operators import (
    ALWAYS,
    AT_TIMES,
    call_function,
    needs_functions,
    register,
    watching,
)
from transformer.watch.capture.place import Place, Places, Running, paths_of
from transformer.watch.capture.sources import Made
from transformer.watch.capture.tensors import tensors_in
from transformer.watch.capture.traces import READS, first_rows
from transformer.watch.capture.turning import TURNING


class Watcher(Sequences):
    """Notes down every attention call while it is entered; changes nothing.

    What it watches with belongs to its thread, so that threads which run one shared model do not
    mix. A few operators tell everything about models whose attention is one call. What leads from
    a product to a softmax may be any function: all are watched from such a product on.
    """

    def __init__(
        self,
        model: nn.Module,
        copies: bool = False,
        is_one: bool = True,
        *,
        is_for_edits: bool = False,
        inputs: Iterable[object] = (),
    ) -> None:
        """copies: whether an argument may hold keys and values that are overwritten later.

        is_one: whether the model is given one sequence, which it may cut into windows.
        is_for_edits: whether to note down where positions are added, too.
        inputs: what the model is given.
        """
        self._copies = copies
        self._paths = paths_of(model)
        super().__init__(self._paths, inputs, is_for_edits=is_for_edits)
        self._held = Held(self._paths)
        self._marks = Marks()
        self._splits: Splits = {}
        self._is_one = is_one
        self.windows: dict[str, tuple[int, int]] = {}
        """Path of a module that reads one sequence as several -> how many, of how many queries."""
        self.softmaxes: list[Origin] = []
        """The softmaxes over products of activations."""
        self._layer = Layer(self._held, self._paths)
        self._places = Places(self._paths)
        self._entered = ExitStack()
        self._functions: Functions | None = None

    def __enter__(self) -> "Watcher":
        self._entered.enter_context(watching(self))
        types = set(map(type, self._paths))
        if needs_functions() or any(issubclass(it, nn.MultiheadAttention) for it in types):
            self._watch_functions()
        return self

    def __exit__(self, *error: object) -> None:
        self._entered.close()
        self._layer.settle()
        self._layer.forget()
        self.forget()
        self._places.forget()

    @property
    def modules(self) -> Mapping[nn.Module, str]:
        """Every module of the model -> its path."""
        return self._paths

    def has_run(self, module: nn.Module) -> bool:
        """Tell whether the pass has used the matrix of a linear layer."""
        return self._layer.has_met(module._parameters.get("weight"))

    @property
    def wants_more(self) -> bool:
        """Tell whether W_O or rows of positions may be met next."""
        return bool(self._layer) or self.tables.is_open

    def _watch_functions(self) -> None:
        if self._functions is None:
            self._functions = self._entered.enter_context(Functions(self.function))

    def function(self, func: Callable[..., Any], args: Sequence[Any], kwargs: Any) -> Any:
        """Call one of torch's functions and note down what operators do not tell."""
        if func is F.multi_head_attention_forward:
            with watching(None):
                result = func(*args, **kwargs)
            self._multi_head(result[0], *args, **kwargs)
            return result
        result = call_function(self, func, args, kwargs)
        if func is Tensor.__getitem__ and needs_functions():
            self._indexed(as_indices(*args), kwargs, result)
        if func in TURNING:
            self.turns.called(func, result, (*args, *kwargs.values()), len(self.seen))
        if func in SOFTMAXES:
            self._softmax(result, args, kwargs)
        elif self._marks and func not in ENDING:
            for each in tensors_in([result]):
                if each.dim() > 1:
                    inherited(self._marks, func, each, args, kwargs)
        return result

    def _fused(self, args: Any, kwargs: Any, result: Tensor) -> None:
        query, key, value, closed, *others = (*args, None)[: max(4, len(args))]
        running = Running()
        if packed := unpacked(query, key, value, closed, self._layer.sources):
            result, (query, key, value, closed) = result[..., None, :], packed
        place = self._places.here(running, query.size(-1), query.size(-2))
        if self._is_of_windows(result, place):
            return
        source = self._layer.sources.made(args[0], key, value, running.is_given)
        heads = one_of_batch(self.folded(result), place.path)
        query, key, value = map(self.folded, (query, self._lasting(key), self._lasting(value)))
        split = parts(self.folded_mask(closed, len(heads)), key.size(-2), self._splits)
        make = partial(fused_call, query, key, value, split, *others, **kwargs)
        sizes = heads.size(0), heads.size(1), key.size(-2)
        is_causal = others[1:2] == [True] or later_keys_are_closed(split.uncovered, *sizes[1:])
        seen = Seen(place, sizes, make, is_causal, place.reads_another, is_folded=query.dim() == 3)
        seen.is_random = bool(kwargs.get("dropout_p", (*others, 0.0)[0]))
        seen.is_picked = self._are_picked(args[:2], sizes[1:])
        seen.source = source
        seen.trace = self._traces.trace(
            place, sizes[1:], self._layer.sources.latest(READS), running.is_given
        )
        self._edit(seen, result)
        self._note(seen, heads)

    def _multi_head(
        self, result: Tensor, query: Tensor, key: Tensor, *args: Any, **kwargs: Any
    ) -> None:
        place = self._places.here(Running(), -1, query.size(0))
        if query.dim() == 3:
            batch = query.transpose(0, 1)[:, None]
            if self._is_of_windows(batch, place):
                return
            one_of_batch(batch, place.path)  # raises for a batch
        make, mask, sizes = multi_head_call(query, key, *args, **kwargs)
        is_causal = later_keys_are_closed(mask.uncovered, *sizes[1:])
        added = added_keys(query, key, *args, **kwargs)
        is_same = query is key or (query.shape == key.shape and torch.equal(query, key))
        self._layer.reads(query, key)
        seen = Seen(place, sizes, make, is_causal, added=added)
        seen.source = Made(not is_same)
        reads = multi_head_reads(query, key, *args, **kwargs)
        seen.trace = self._traces.trace(place, sizes[1:], reads, lambda _: True)
        self._edit_projected(seen, result)
        seen.sample = multi_head_sample(result, query, key, *args, **kwargs)
        self._note(seen, None)

    def _softmax(self, result: Any, args: Any, kwargs: Any) -> None:
        scores = next(tensors_in((*args, *kwargs.values())))
        axis = kwargs.get("dim", args[1] if len(args) > 1 else None)
        mark = self._marks.get(scores)
        if not isinstance(mark, Product) or axis not in (-1, scores.dim() - 1):
            return
        if scores.size(-1) - mark.n_keys in (0, 1):  # one more: an attention sink
            sizes = scores.size(-2), scores.size(-1)
            has_sink = scores.size(-1) > mark.n_keys
            path = self._places.here(Running(), -1, sizes[0]).path
            origin = Origin(path, sizes, mark.is_picked, has_sink)
            origin.source, origin.firsts = mark.source, mark.firsts
            self.softmaxes.append(origin)
            self._edit_weights(origin, scores, result, mark.addends)
            self._marks.put(result, Softmax(result, scores, mark.addends, origin))

    def _product(self, args: Any, kwargs: Any, result: Tensor) -> None:
        made = None
        if self._marks:
            is_learned = any(map(self._held.is_learned, tensors_in(args)))
            if is_learned and mixed(self._marks, result, args):
                return
            made = met_values(self._marks, args, result)
        if made is not None:
            self._by_hand(made)
        elif self._held.are_activations(args, result):
            is_picked = self._are_picked(args, result.shape[-2:])
            q, k = [*tensors_in(args)][-2:]
            source = self._layer.sources.made(q, k, None, Running().is_given)
            addends = added_by(args, kwargs)
            firsts = first_rows(args, result)
            self._marks.put(result, Product(result.size(-1), addends, is_picked, source, firsts))
            self._watch_functions()
        else:
            self._layer.matrix(args, result)

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
        self._edit(seen, made.result)
        self._note(seen, made.result.reshape(n_heads, n_queries, -1))
        if softmax is not None:
            before = len(softmax.given), n_queries, n_keys
            self.seen.append(replace(seen, sizes=before, make=lambda: softmax, is_softmax=True))

    def _is_of_windows(self, tensor: Tensor, place: Place) -> bool:
        """Tell whether a call reads several sequences where the model was given one."""
        windows = place.windows(tensor) if self._is_one else None
        if windows is not None:
            self.windows[place.path] = windows
        return windows is not None

    def _lasting(self, tensor: Tensor) -> Tensor:
        return tensor.clone() if self._copies else self._held.lasting(tensor)

    def _linear(self, args: Any, kwargs: Any, result: Tensor) -> None:
        if self._marks:
            mixed(self._marks, result, args)
        self._layer.linear(args, result)

    def _matrix(self, args: Any, kwargs: Any, result: Tensor) -> None:
        self._layer.matrix(args, result)

    def _cat(self, args: Any, kwargs: Any, result: Tensor) -> None:
        self._layer.put_together(args[0], (*args, 0)[1], result)

    def _stack(self, args: Any, kwargs: Any, result: Tensor) -> None:
        self._layer.put_together(args[0], None, result)

    def _note(self, seen: Seen, heads: Tensor | None) -> None:
        self.seen.append(seen)
        self._layer.note(seen, heads)
        self.tables.forget()


aten = torch.ops.aten
for _each in (aten.matmul, aten.bmm, aten.mm, aten.baddbmm, aten.einsum):
    register(_each.default, ALWAYS, Watcher._product)
register(aten.scaled_dot_product_attention.default, ALWAYS, Watcher._fused)
register(aten.addmm.default, ALWAYS, Watcher._matrix)
register(aten.linear.default, ALWAYS, Watcher._linear)
register(aten.cat.default, AT_TIMES, Watcher._cat)
register(aten.stack.default, AT_TIMES, Watcher._stack)
