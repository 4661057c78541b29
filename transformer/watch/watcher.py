"""The watcher: every torch function of one thread and one pass goes through it, unchanged."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from itertools import pairwise
from types import FrameType
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from transformer.watch.addends import ADDITIONS, Addend, bias_of
from transformer.watch.by_hand import Marks, Product, Softmax, inherited, met_values, tensors_in
from transformer.watch.fused import Splits, fused_call, multi_head_call
from transformer.watch.place import place_of
from transformer.watch.seen import Seen, later_keys_are_closed, one_of_batch, storage
from transformer.watch.tables import Tables
from transformer.watch.turning import TURNING, Turns


class Watcher(TorchFunctionMode):
    """Notes down every attention call while it is entered; changes nothing.

    A mode belongs to its thread, so that threads which run one shared model do not mix. torch's
    fast paths for its own encoder layers stand back by themselves while a mode is active.
    """

    def __init__(self, model: nn.Module, copies: bool = False) -> None:
        """copies: whether keys and values may be overwritten after the pass, as static caches."""
        super().__init__()
        self.seen: list[Seen] = []
        self._copies = copies
        self._paths = dict(_paths(model))
        self.tables = Tables(self._paths)
        """Rows of tables that met a sequence: positions may be among them."""
        self.turns = Turns()
        self._marks = Marks()
        self._splits: Splits = {}
        self._joining: tuple[Seen, Tensor] | None = None
        """The latest call and what it gave [H, Q, d_value], until W_O is found."""

    @property
    def modules(self) -> Mapping[nn.Module, str]:
        """Every module of the model -> its path."""
        return self._paths

    @cached_property
    def _learned(self) -> set[int]:
        return {storage(each) for module in self._paths for each in module._parameters.values()}

    @cached_property
    def _kept(self) -> set[int]:
        return {storage(each) for module in self._paths for each in module._buffers.values()}

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        if func in ADDITIONS:  # before, since some overwrite what they add to
            self.tables.addition(args, kwargs, len(self.seen))
        result = func(*args, **kwargs)
        if func in TURNING:
            self.turns.called(func, result, (*args, *kwargs.values()), len(self.seen))
        watch = _WATCHED.get(func)
        if watch is not None:
            watch(self, result, args, kwargs, sys._getframe(1))
        elif self._marks and isinstance(result, Tensor) and result.dim() > 1:
            inherited(self._marks, func, result, (*args, *kwargs.values()))
        return result

    def _lookup(self, result: Any, args: Any, kwargs: Any, frame: FrameType) -> None:
        ids, table = tuple(tensors_in((*args, *kwargs.values())))[:2]
        self.tables.looked_up(result, table, ids)

    def _select(self, result: Any, args: Any, kwargs: Any, frame: FrameType) -> None:
        given = (*args, *kwargs.values())
        if 0 in given[1:2]:
            self.tables.looked_up(result, *tuple(tensors_in(given))[:2])
        inherited(self._marks, torch.index_select, result, given)

    def _fused(self, result: Any, args: Any, kwargs: Any, frame: FrameType) -> None:
        query = kwargs["query"] if "query" in kwargs else args[0]
        place = place_of(frame, self._paths, query.size(-1))
        call = fused_call(*args, **kwargs, path=place.path, splits=self._splits)
        if self._copies:
            call = replace(call, k=call.k.clone(), v=call.v.clone())
        sizes = call.n_heads, call.q.size(1), call.k.size(1)
        is_causal = call.is_causal or later_keys_are_closed(call.mask, *sizes[1:])
        seen = Seen(
            place, sizes, lambda: call, is_causal, place.reads_another, is_folded=query.dim() == 3
        )
        self._note(seen, one_of_batch(result, place.path))

    def _multi_head(self, result: Any, args: Any, kwargs: Any, frame: FrameType) -> None:
        query, key = (*args, *kwargs.values())[:2]
        place = place_of(frame, self._paths, -1)
        if query.dim() == 3:
            one_of_batch(query.transpose(0, 1)[:, None], place.path)  # raises for a batch
        make, mask, sizes = multi_head_call(*args, **kwargs)
        is_causal = later_keys_are_closed(mask, *sizes[1:])
        is_same = query is key or (query.shape == key.shape and torch.equal(query, key))
        self.seen.append(Seen(place, sizes, make, is_causal, not is_same))
        self._joining = None
        self.tables.forget()

    def _softmax(self, result: Any, args: Any, kwargs: Any, frame: FrameType) -> None:
        scores = next(tensors_in((*args, *kwargs.values())))
        axis = kwargs.get("dim", args[1] if len(args) > 1 else None)
        mark = self._marks.get(scores)
        if not isinstance(mark, Product) or axis not in (-1, scores.dim() - 1):
            return
        if scores.size(-1) - mark.n_keys in (0, 1):  # one more: an attention sink
            self._marks.put(result, Softmax(result, scores, mark.addends))

    def _product(self, result: Any, args: Any, kwargs: Any, frame: FrameType) -> None:
        operands = [*args, *kwargs.values()]
        made = met_values(self._marks, operands, result) if self._marks else None
        if made is not None:
            self._by_hand(made, frame)
        elif self._is_of_activations(operands, result):
            self._marks.put(result, Product(result.size(-1), _added_by(operands, kwargs)))
        else:
            self._matrix(result, args, kwargs, frame)

    def _by_hand(self, made: Any, frame: FrameType) -> None:
        width = -1 if made.v is None else made.v.size(-1)
        place = place_of(frame, self._paths, width)
        one_of_batch(made.weights, place.path)  # raises for a batch
        call = made.call()
        n_heads, n_queries, n_keys = sizes = call.given.shape
        is_causal = later_keys_are_closed(call.mask, n_queries, n_keys)
        folded = made.weights.dim() == 3
        addends = made.addends  # not made itself, which holds the scores too
        make = cache(lambda: replace(call, bias=bias_of(addends, sizes)))
        seen = Seen(place, tuple(sizes), make, is_causal, place.reads_another, is_folded=folded)
        self._note(seen, made.result.reshape(n_heads, n_queries, -1))

    def _is_of_activations(self, operands: Sequence[Any], result: Tensor) -> bool:
        """Whether it may be scores: nothing constant in it, and nothing learned for its keys."""
        tensors = list(tensors_in(operands))[-2:]
        if len(tensors) < 2 or result.dim() < 2 or not result.is_floating_point():
            return False
        queries, keys = tensors
        if isinstance(operands[0], str):
            terms, _, out = operands[0].replace(" ", "").partition("->")
            if out and out[-1] in terms.split(",")[0]:
                queries, keys = keys, queries
        constant = {storage(queries), storage(keys)} & self._kept
        return not constant and storage(keys) not in self._learned

    def _linear(self, result: Any, args: Any, kwargs: Any, frame: FrameType) -> None:
        self._joined(args, kwargs, lambda matrix: matrix)

    def _matrix(self, result: Any, args: Any, kwargs: Any, frame: FrameType) -> None:
        self._joined(args, kwargs, lambda matrix: matrix.mT)

    def _joined(self, args: Any, kwargs: Any, turned: Callable[[Tensor], Tensor]) -> None:
        """The joined heads meet W_O: kept if what meets it is what the latest attention gave.

        turned: the matrix -> [D, H * d_value].
        """
        if self._joining is None:
            return
        seen, heads = self._joining
        tensors = list(tensors_in((*args, *kwargs.values())))
        for joined, matrix in pairwise(tensors):
            if matrix.dim() != 2 or joined.dim() < 2:
                continue
            if turned(matrix).size(-1) == joined.size(-1) and _is_joined(joined, heads):
                seen.projection = turned(matrix)
                self._joining = None
                return

    def _note(self, seen: Seen, heads: Tensor) -> None:
        self.seen.append(seen)
        self._joining = seen, heads
        self.tables.forget()


def _added_by(operands: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Addend, ...]:
    """What baddbmm adds to the product that it makes."""
    tensors, beta = list(tensors_in(operands)), float(kwargs.get("beta", 1.0))
    return (Addend(tensors[0], beta),) if len(tensors) == 3 and beta else ()


def _paths(model: nn.Module) -> Iterator[tuple[nn.Module, str]]:
    """Every module with its path, a shared one with its last: three times as fast as torch's."""
    waiting = [(model, "")]
    while waiting:
        module, path = waiting.pop()
        yield module, path
        start = path and f"{path}."
        children = module._modules.items()
        waiting.extend((child, start + name) for name, child in children if child is not None)


def _is_joined(joined: Tensor, heads: Tensor) -> bool:
    """Whether the rows of joined [..., H * d_value] are those of heads [H, Q, d_value].

    The first and the last row say it: two sides that agree there bit for bit are the same.
    """
    width = heads.size(0) * heads.size(-1)
    if joined.size(-1) != width or joined.numel() != width * heads.size(1):
        return False
    rows = joined.reshape(-1, width)
    return all(torch.equal(rows[row], heads[:, row].flatten().to(rows.dtype)) for row in (0, -1))


_PRODUCTS = (
    *(torch.matmul, Tensor.matmul, Tensor.__matmul__, torch.bmm, Tensor.bmm, torch.mm, Tensor.mm),
    *(torch.baddbmm, Tensor.baddbmm, torch.einsum),
)
_SOFTMAXES = (torch.softmax, Tensor.softmax, F.softmax, torch.special.softmax)
_MATRICES = (torch.addmm, Tensor.addmm)
_WATCHED: dict[Any, Callable[..., None]] = {
    F.scaled_dot_product_attention: Watcher._fused,
    F.multi_head_attention_forward: Watcher._multi_head,
    **dict.fromkeys(_SOFTMAXES, Watcher._softmax),
    **dict.fromkeys(_PRODUCTS, Watcher._product),
    **dict.fromkeys(_MATRICES, Watcher._matrix),
    F.linear: Watcher._linear,
    F.embedding: Watcher._lookup,
    **dict.fromkeys((Tensor.index_select, torch.index_select), Watcher._select),
}
