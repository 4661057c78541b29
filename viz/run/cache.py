"""The cache of what was made: answers, recordings and packed pictures, for all sessions.

They share one number of bytes. What was not used for longest leaves first, and what was not used
for an hour leaves as well. Models are apart; what a session shows stays with it besides.
"""

import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, is_dataclass
from threading import Lock
from typing import Any, TypeVar, cast

import numpy as np
from torch import Tensor, nn

T = TypeVar("T")
LONGEST = 3600.0
"""Seconds for which something is kept that nobody uses."""


@dataclass(slots=True)
class _Thing:
    value: Any
    n_bytes: int
    used: float


class Cache:
    """The things that were used last, up to a number of bytes. Threads may share it.

    clock: gives seconds.
    """

    def __init__(self, most_bytes: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.most_bytes = most_bytes
        self.n_bytes = 0
        self._clock = clock
        self._lock = Lock()
        self._things: OrderedDict[Hashable, _Thing] = OrderedDict()

    def at_hand(self, name: Hashable) -> Any:
        """The thing of this name; None where it is not kept."""
        with self._lock:
            thing = self._things.get(name)
            if thing is None:
                return None
            self._things.move_to_end(name)
            thing.used = self._clock()
            return thing.value

    def get(self, name: Hashable, make: Callable[[], T], size: Callable[[T], int]) -> T:
        """The thing of this name, made where it is not kept.

        size: says how many bytes it has. Raises what `make` raises, and keeps nothing then.
        """
        thing = self.at_hand(name)
        if thing is None:
            thing = make()
            self.put(name, thing, size(thing))
        return cast(T, thing)

    def put(self, name: Hashable, value: object, n_bytes: int) -> None:
        """Keep something, and drop what was not used for longest."""
        with self._lock:
            now = self._clock()
            self._drop(name)
            self._things[name] = _Thing(value, n_bytes, now)
            self.n_bytes += n_bytes
            while self._things:
                oldest, thing = next(iter(self._things.items()))
                if self.n_bytes <= self.most_bytes and now - thing.used <= LONGEST:
                    break
                self._drop(oldest)

    def clear(self) -> None:
        """Keep nothing any more."""
        with self._lock:
            self._things.clear()
            self.n_bytes = 0

    def _drop(self, name: Hashable) -> None:
        if name in self._things:
            self.n_bytes -= self._things.pop(name).n_bytes


def bytes_of(value: object, beside: nn.Module | None = None) -> int:
    """Count the bytes of all that is reached from it in dataclasses, mappings and sequences, once.

    beside: a model whose parameters and buffers are not counted. Tensors count as much as they
    keep in memory: a view as much as what it is a view of.
    """
    seen: set[int] = set()
    if beside is not None:
        for tensor in (*beside.parameters(), *beside.buffers()):
            seen.add(tensor.untyped_storage().data_ptr())
    total, waiting = 0, [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Tensor):
            storage = each.untyped_storage()
            mark, n_bytes = storage.data_ptr(), storage.nbytes()
        else:
            mark, n_bytes = id(each), sys.getsizeof(each)
        if mark in seen:
            continue
        seen.add(mark)
        total += n_bytes
        waiting += _parts(each)
    return total


def _parts(value: object) -> Iterable[Any]:
    if isinstance(value, (str, bytes, int, float, Tensor, type(None))):
        return ()
    if isinstance(value, np.ndarray):
        return () if value.base is None else (value.base,)
    if isinstance(value, Mapping):
        return [*value.keys(), *value.values()]
    if isinstance(value, (Sequence, Set)):
        return value
    if is_dataclass(value) and hasattr(value, "__dict__"):
        return vars(value).values()
    return ()


CACHE = Cache(2**30)
"""The server says how many bytes by its setting."""
