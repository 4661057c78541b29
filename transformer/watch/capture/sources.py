"""Sources of queries and keys: the tensors that learned matrices read before an attention."""

import weakref
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from transformer.recording.calls import NO_ROWS, Firsts, Read, States, Trace
from transformer.watch.capture.place import Place
from transformer.watch.capture.tensors import storage, tensors_in

# Sources of queries and keys: the tensors that learned matrices read before an attention.
#
# Where both are made of one tensor, a sequence reads itself, however long its keys are; names and
# lengths say less. What a matrix gave is known by where its numbers lie, so this ends at
# functions that make new tensors, as those that turn queries and keys do. Then the others tell.

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


# Traces of calls: what the latest learned matrices read, and which text that was.

READS = 5
"""Reads that a call is traced to: queries, keys, values, and the latents of two of them."""
_PROJECTIONS = 3
_TRACES_MOST = 6
"""States that are told from others: what layers read in common is among the latest."""


_Place = tuple[int, int, int]
"""The address of the numbers of a tensor, how many they are, and how many of them a row has."""


class Traces:
    """Numbers the states that are read in a pass, and the texts."""

    def __init__(self, inputs: Iterable[object] = ()) -> None:
        """inputs: what the model is given."""
        self._inputs = {each.data_ptr() for each in inputs if isinstance(each, Tensor)}
        self._latest: deque[tuple[_Place, States, Tensor]] = deque(maxlen=_TRACES_MOST)
        """With the tensor, so that the place stays its own."""
        self._n = 0
        self._texts: dict[int, tuple[int, int]] = {}
        """The place of a matrix' numbers -> how often it met ids or a picture, and how many rows;
        0: any number."""

    def forget(self) -> None:
        """The pass is over."""
        self._latest.clear()

    def looked_up(self, table: Tensor, ids: Tensor) -> None:
        """Ids were looked up in a table."""
        self._met(table, ids.numel())

    def convolved(self, tensor: Tensor, kernel: Tensor) -> None:
        """A kernel has met a tensor: patches are made of pictures, and words of sounds."""
        if tensor.data_ptr() in self._inputs:
            self._met(kernel, 0)

    def _met(self, matrix: Tensor, n_rows: int) -> None:
        n, _ = self._texts.get(matrix.data_ptr(), (0, 0))
        self._texts[matrix.data_ptr()] = n + 1, n_rows

    def trace(
        self,
        place: Place,
        sizes: Sequence[int],
        reads: Iterable[Reading],
        is_given: Callable[[Tensor], bool],
        firsts: Firsts = NO_ROWS,
    ) -> Trace:
        """sizes: queries and keys. is_given: whether a module under way was given a tensor."""
        made, tensors = [], {}
        for read in reads:
            if not read.tensor.numel():
                continue
            states = self._states(read.tensor)
            tensors[states.number] = read.tensor
            made.append(Read(states, read.matrix, read.bias, read.is_turned))
        earlier, latest = made[:-_PROJECTIONS], made[-_PROJECTIONS:]
        numbers = {each.states.number for each in latest}
        arguments = (it for it in numbers if is_given(tensors[it])) if len(numbers) > 1 else ()
        return Trace(
            place.path,
            place.run,
            self._text(*sizes),
            tuple(latest),
            frozenset(arguments),
            firsts,
            place.norms,
            tuple(earlier),
        )

    def _text(self, n_queries: int, n_keys: int) -> int:
        """One word by itself tells nothing: other tables are asked for one row, too."""
        if n_queries == n_keys == 1:
            return 0
        return max((n for n, rows in self._texts.values() if rows in (0, n_queries)), default=0)

    def _states(self, tensor: Tensor) -> States:
        width = tensor.size(-1)
        place = tensor.data_ptr(), tensor.numel(), width
        for other, states, _ in reversed(self._latest):
            if other == place:
                return states
        self._n += 1
        row = tensor.as_strided((width,), (tensor.stride(-1),)).clone()  # nothing costs less
        states = States(self._n, row, place[1] // width)
        self._latest.append((place, states, tensor))
        return states


def first_rows(operands: Sequence[Any], scores: Tensor) -> Firsts:
    """Copy the first query and the first key of all heads.

    operands: of the product that gave the scores, (equation, q, k) of an einsum, or (q, k).
    """
    q, k = [*tensors_in(operands)][-2:]
    of_q: int | None = -2
    of_k: int | None = -1
    if isinstance(operands[0], str):
        terms, _, out = operands[0].replace(" ", "").partition("->")
        first, _, second = terms.partition(",")
        of_q, of_k = _axis(first, out[-2:-1], out), _axis(second, out[-1:], out)
    return Firsts(_first(q, of_q, scores.size(-2)), _first(k, of_k, scores.size(-1)))


def _axis(term: str, letter: str, out: str) -> int | None:
    """The axis of this letter; None where the last one is not that of a head's width."""
    if letter not in term or term[-1] in out or "." in (letter, term[-1]):
        return None
    axis = term.index(letter)
    return axis - len(term) if "." in term[:axis] else axis  # dots stand for any axes


def _first(tensor: Tensor, axis: int | None, n: int) -> Tensor | None:
    is_clear = axis is not None and tensor.dim() > 1 and tensor.size(axis) == n > 0
    return tensor.detach().select(axis, 0).clone() if axis is not None and is_clear else None


# Queries and keys that were picked out of a sequence: whose rows or columns they are is unknown.
#
# Informer, for one, lets the few queries attend whose scores differ most, in any order.


class Picked:
    """Tensors [..., T, d] whose positions were taken out of others, for as long as they live."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref[Tensor], int]] = {}
        """id of a tensor -> itself, and the axis along which it was taken out."""

    def __contains__(self, tensor: Tensor) -> bool:
        for each in (tensor, tensor._base):
            taken, axis = self._known.get(id(each), (None, 0))
            if each is not None and taken is not None and taken() is each:
                return _is_sequence(tensor, each.size(axis), each.stride(axis))
        return False

    def indexed(self, args: Sequence[Any], kwargs: Any, result: Tensor) -> None:
        """torch has taken `tensor[indices]`, where None stands for a whole axis."""
        tensor, indices = args[:2]
        axis = tensor.dim() - 2
        if tensor.dim() < 3 or not tensor.is_floating_point() or len(indices) <= axis:
            return
        if isinstance(indices[axis], Tensor):
            picked = self._known
            key = id(result)
            picked[key] = weakref.ref(result, lambda _: picked.pop(key, None)), axis


def _is_sequence(tensor: Tensor, size: int, stride: int) -> bool:
    """Tell whether one of the last two axes is such: keys may be turned, [..., d, K].

    Where queries, keys and values lie in one tensor, an index takes one of the three, along an axis
    that is moved to the heads.
    """
    return any(tensor.size(at) == size and tensor.stride(at) == stride for at in (-1, -2))
