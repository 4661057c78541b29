"""Sources of queries and keys: the tensors that learned matrices read before an attention.

Where both are made of one tensor, a sequence reads itself, however long its keys are; names and
lengths say less. What a matrix gave is known by where its numbers lie, so this ends at functions
that make new tensors, as those that turn queries and keys do. Then the others tell.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from transformer.watch.capture.tensors import storage

_MOST = 8
"""Matrices before a call that are looked at: more than a layer and its queries and keys have."""
_SHARED = 4
"""Sequences that are remembered as what keys are made of."""


class Reading(NamedTuple):
    """A learned matrix that has read something."""

    result: Tensor
    """The output, kept so that nothing else takes its place in memory."""
    tensor: Tensor
    matrix: Tensor
    bias: Tensor | None = None
    is_turned: bool = False
    """True: the matrix is [D, ...], not [n, D]."""


@dataclass(eq=False)
class Keys:
    """A sequence that keys and values are made of."""

    tensor: Tensor | None
    """None once the pass is over."""
    is_shared: bool = False
    """True: several attentions read it: it is no layer's own."""


@dataclass(eq=False)
class Made:
    """The source of an attention's keys, beside that of its queries."""

    is_another: bool | None = None
    """True: it is another sequence; None where that is not known."""
    matrix: int | None = None
    """The place of the numbers of the matrix that made the queries, or else the values."""
    keys: Keys | None = None
    """The keys, if they are not made of what queries are made of."""

    @property
    def reads_another(self) -> bool | None:
        """The same once the pass is over: several layers may have read what one has."""
        is_shared = self.keys is not None and self.keys.is_shared
        return True if is_shared else self.is_another


UNKNOWN = Made()


class Sources:
    """Remembers what was read since the latest attention."""

    def __init__(self) -> None:
        self._reads: deque[Reading] = deque(maxlen=_MOST)
        self._before: tuple[Reading, ...] = ()
        self._keys: deque[Keys] = deque(maxlen=_SHARED)
        """The keys of earlier attentions."""
        self._latest: Keys | None = None

    def read(self, reading: Reading) -> None:
        """A learned matrix has read a tensor."""
        self._reads.append(reading)

    def latest(self, n: int) -> list[Reading]:
        """List what was read last; where nothing was since the call before, what was for that."""
        return list(self._reads or self._before)[-n:]

    def forget(self) -> None:
        """An attention was called: what comes is read for the next one."""
        self._before = tuple(self._reads or self._before)
        self._reads.clear()
        if self._latest is not None:
            self._keys.append(self._latest)
            self._latest = None

    def release(self) -> None:
        """The pass is over."""
        self.forget()
        self._before = ()
        for each in self._keys:
            each.tensor = None
        self._keys.clear()

    def made(
        self, q: Tensor, k: Tensor, v: Tensor | None, is_given: Callable[[Tensor], bool]
    ) -> Made:
        """Trace queries, keys, values. is_given: whether a module under way was given a tensor."""
        of_keys = self._of_keys(k, v)
        of_queries = self.of_queries(q, k, v)
        if of_keys is None or of_queries is None:
            read = of_queries or of_keys
            return UNKNOWN if read is None else Made(None, read.matrix.data_ptr())
        matrix = of_queries.matrix.data_ptr()
        if _is_same(of_queries.tensor, of_keys.tensor):
            return Made(False, matrix)
        source = of_keys.tensor
        earlier = [it for it in self._keys if it.tensor is not None and _is_at(it.tensor, source)]
        for each in earlier:
            each.is_shared = True
        self._latest = None if earlier else Keys(source)
        keys = earlier[-1] if earlier else self._latest
        return Made(True if is_given(source) else None, matrix, keys)

    def of_queries(self, q: Tensor, k: Tensor, v: Tensor | None) -> Reading | None:
        """Find the matrix that made the queries; None: it is not known."""
        of_keys = self._of_keys(k, v)
        return self._of(q) or (None if of_keys is None else self._other(of_keys, q.numel()))

    def _of_keys(self, k: Tensor, v: Tensor | None) -> Reading | None:
        return self._of(k) or (None if v is None else self._of(v))

    def _of(self, tensor: Tensor) -> Reading | None:
        """Find what made it, if it was not changed since."""
        place = storage(tensor)
        return next((each for each in reversed(self._reads) if storage(each.result) == place), None)

    def _other(self, of_keys: Reading, size: int) -> Reading | None:
        """Find what made the queries, which were changed since: it was read beside keys and values.

        Three matrices that read one tensor are those of all three; where two do, another one that
        reads as much, or gives the numbers that there are of queries, has made the queries.
        """
        source = of_keys.tensor
        alike = [each for each in self._reads if _place(each.tensor) == _place(source)]
        if len(alike) > 2:
            return alike[0]
        width = of_keys.matrix.shape
        others = [each for each in self._reads if _place(each.tensor) != _place(source)]
        latest = others[-1] if others and len(alike) == 2 else None
        if latest is None or (latest.matrix.shape != width and latest.result.numel() != size):
            return None
        return latest


def _place(tensor: Tensor) -> tuple[int, int]:
    return tensor.data_ptr(), tensor.numel()


def _is_at(a: Tensor, b: Tensor) -> bool:
    return _place(a) == _place(b)


def _is_same(a: Tensor, b: Tensor) -> bool:
    if _is_at(a, b):
        return True
    return a.shape == b.shape and a.dtype == b.dtype and torch.equal(a, b)
