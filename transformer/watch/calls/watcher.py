"""The watcher: what one thread computes in one pass goes past it, unchanged."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer.watch.calls.fused import (
    Splits,
    added_keys,
    fused_call,
    is_random,
    multi_head_call,
    multi_head_reads,
    multi_head_sample,
    parts,
    unpacked,
)
from transformer.watch.calls.layer import joined_steps
from transformer.watch.calls.marks import inherited, mixed
from transformer.watch.calls.products import Products
from transformer.watch.calls.seen import Seen, later_keys_are_closed, one_of_batch
from transformer.watch.capture.followed import Followed
from transformer.watch.capture.homes import NONE, both, fitting
from transformer.watch.capture.operators import (
    ALWAYS,
    AT_TIMES,
    ENDING,
    SOFTMAXES,
    Functions,
    as_written,
    has_mode,
    register,
    require_written,
    watching,
)
from transformer.watch.capture.place import Running, paths_of
from transformer.watch.capture.sources import READS, Made
from transformer.watch.capture.tensors import storage, tensors_in
from transformer.watch.capture.turns import TURNING


class Watcher(Products):
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
        is_kept: bool = True,
        inputs: Iterable[object] = (),
        is_followed: bool = False,
        are_texts: bool = False,
    ) -> None:
        """copies: whether an argument may hold keys and values that are overwritten later.

        is_one: whether the model is given one sequence, which it may cut into windows.
        is_for_edits: whether to note down where positions are added, too.
        is_kept: whether calls are looked at after the pass; else queries, keys and values are made
        when somebody asks, of what the model has by then.
        inputs: what the model is given.
        is_followed: whether to follow every number of the pass to the position that it is of.
        are_texts: whether all inputs are ids of tokens.
        """
        self._paths = paths_of(model)
        super().__init__(self._paths, inputs, copies, is_one, is_for_edits=is_for_edits)
        self._is_kept = is_kept
        self.homes = Followed(inputs, are_texts=are_texts) if is_followed else None
        self._splits: Splits = {}
        self._lengths = {size for each in tensors_in(inputs) for size in each.shape[:2]}
        self._entered = ExitStack()
        self._functions: Functions | None = None
        self.draws = False
        """True: the pass has drawn random numbers."""

    def __enter__(self) -> "Watcher":
        require_written(self._paths)
        self._entered.enter_context(as_written())
        self._entered.enter_context(watching(self))
        if self.homes is not None:
            self._entered.enter_context(self.homes)
        types = set(map(type, self._paths))
        # A mode of somebody else's would be out of order with one that is entered within its calls.
        if has_mode() or any(issubclass(it, nn.MultiheadAttention) for it in types):
            self._watch_functions()
        return self

    def __exit__(self, *error: object) -> None:
        self._entered.close()
        if self.homes is not None:
            self.homes.forget()
            for seen in self.seen:
                seen.homes = None if seen.homes is None else self.homes.united(seen.homes)
        self._layer.settle()
        self._layer.forget()
        self.forget()
        self._places.forget()
        if any(isinstance(each, nn.RNNBase | nn.RNNCellBase) for each in self._paths):
            self.seen = joined_steps(self.seen, self._lengths)

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
        result = func(*args, **kwargs)
        if func in TURNING:
            self.turns.called(func, result, (*args, *kwargs.values()), len(self.seen))
        is_over_keys = func in SOFTMAXES and self._softmax(result, args, kwargs)
        if self._marks and not is_over_keys and func not in ENDING:
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
        query, key, value = map(self.folded, map(self._lasting, (query, key, value)))
        split = parts(
            self.folded_mask(closed, len(heads)), key.size(-2), self._splits, self._lasting
        )
        make = partial(fused_call, query, key, value, split, *others, **kwargs)
        sizes = heads.size(0), heads.size(1), key.size(-2)
        is_causal = others[1:2] == [True] or later_keys_are_closed(split.uncovered, *sizes[1:])
        seen = Seen(place, sizes, make, is_causal, place.reads_another, is_folded=query.dim() == 3)
        seen.is_random = bool(kwargs.get("dropout_p", (*others, 0.0)[0]))
        self.draws |= seen.is_random
        seen.is_picked = self._are_picked(args[:2], sizes[1:])
        seen.source = source
        seen.trace = self._traces.trace(
            place, sizes[1:], self._layer.sources.latest(READS), running.is_given
        )
        if self.homes is not None:
            keys = both(self.homes.rows(key), self.homes.rows(value))
            seen.homes = fitting(self.homes.rows(query), keys, *sizes[1:])
        seen.ends = self._ends(seen, (query, key, value))
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
            one_of_batch(self.folded(batch), place.path)  # raises for a batch
        make, mask, sizes = multi_head_call(self._is_kept, query, key, *args, **kwargs)
        is_causal = later_keys_are_closed(mask.uncovered, *sizes[1:])
        added = added_keys(query, key, *args, **kwargs)
        is_same = query is key or (query.shape == key.shape and torch.equal(query, key))
        self._layer.reads(query, key)
        seen = Seen(place, sizes, make, is_causal, added=added)
        seen.source = Made(not is_same)
        reads = multi_head_reads(query, key, *args, **kwargs)
        seen.trace = self._traces.trace(place, sizes[1:], reads, lambda _: True)
        if self.homes is not None:
            keys = both(self.homes.rows(key, 0), self.homes.rows(args[0], 0))
            more = torch.full((sizes[2] - len(keys),), NONE, dtype=keys.dtype)
            seen.homes = fitting(self.homes.rows(query, 0), torch.cat([keys, more]), *sizes[1:])
            self.homes.give_rows(result, seen.homes.queries, 0)
        self._edit_projected(seen, result)
        seen.sample = multi_head_sample(result, query, key, *args, **kwargs)
        self.draws |= is_random(query, key, *args, **kwargs)
        self._note(seen, None)

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

    def _drawn(self, args: Any, kwargs: Any, result: Any) -> None:
        self.draws = True

    def _dropped(self, args: Any, kwargs: Any, result: Tensor) -> None:
        self.draws |= storage(result) != storage(args[0])  # else it rests
        super()._dropped(args, kwargs, result)


aten = torch.ops.aten
register(aten.scaled_dot_product_attention.default, ALWAYS, Watcher._fused)
register(aten.addmm.default, ALWAYS, Watcher._matrix)
register(aten.linear.default, ALWAYS, Watcher._linear)
register(aten.cat.default, AT_TIMES, Watcher._cat)
register(aten.stack.default, AT_TIMES, Watcher._stack)


def _random() -> Iterator[Any]:
    """List torch's operators that draw random numbers whenever they are called.

    Others are made of these, as dropout is, or draw some only if an argument says so.
    """
    for name in dir(aten):
        packet = getattr(aten, name)
        overloads = packet.overloads() if isinstance(packet, torch._ops.OpOverloadPacket) else ()
        for each in (getattr(packet, overload) for overload in overloads):
            is_random = torch.Tag.nondeterministic_seeded in each.tags
            is_asked = any(part in name for part in ("attention", "rnn", "rrelu"))
            if is_random and not is_asked and not _is_made_of_others(each):
                yield each


def _is_made_of_others(operator: Any) -> bool:
    key = "CompositeImplicitAutograd"
    return torch._C._dispatch_has_kernel_for_dispatch_key(operator.name(), key)


for _each in _random():
    register(_each, ALWAYS, Watcher._drawn)
