"""Traces of calls: what the latest learned matrices read, and which text that was."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from torch import Tensor

from transformer.recording.trace import NO_ROWS, Firsts, Read, States, Trace
from transformer.watch.capture.place import Place
from transformer.watch.capture.sources import Reading
from transformer.watch.capture.tensors import tensors_in

READS = 5
"""Reads that a call is traced to: queries, keys, values, and the latents of two of them."""
_PROJECTIONS = 3
_MOST = 6
"""States that are told from others: what layers read in common is among the latest."""


_Place = tuple[int, int, int]
"""The address of the numbers of a tensor, how many they are, and how many of them a row has."""


class Traces:
    """Numbers the states that are read in a pass, and the texts."""

    def __init__(self, inputs: Iterable[object] = ()) -> None:
        """inputs: what the model is given."""
        self._inputs = {each.data_ptr() for each in inputs if isinstance(each, Tensor)}
        self._latest: deque[tuple[_Place, States, Tensor]] = deque(maxlen=_MOST)
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
