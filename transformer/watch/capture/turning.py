"""Turns of queries and keys: they are multiplied with cosines that are made in the pass.

That a model holds frequencies does not say so: Falcon keeps them beside ALiBi, and some models
leave every fourth layer unturned.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from transformer.positions.encodings import find_pairs

_COSINES = frozenset({Tensor.cos, torch.cos, torch.polar})
_TIMES = frozenset({Tensor.mul, Tensor.mul_, torch.mul})
_CHANGING = frozenset(
    {
        *(Tensor.to, Tensor.type_as, Tensor.float, Tensor.repeat, Tensor.__getitem__),
        *(Tensor.repeat_interleave, torch.repeat_interleave, torch.cat, torch.stack),
    }
)
"""Functions that make cosines of cosines; views of them begin at the same place in memory."""
TURNING = _COSINES | _TIMES | _CHANGING
_MOST = 8
_FEW = 16
"""Rows by which turns are measured."""
_CLOSE = 1e-3


def frequencies_of_angles(angles: Tensor) -> Tensor | None:
    """Find what turns by as much from each position to the next: [..., T, n] -> [n] or [n / 2].

    None where that is not so. An angle may be there twice, for both dimensions of its pair.
    """
    rows = angles.reshape(-1, angles.size(-1)).float() if angles.dim() > 1 else angles[:0]
    if len(rows) < 2:
        return None
    steps = rows[1] - rows[0]
    places = torch.arange(len(rows), device=rows.device)[:, None]
    if not torch.allclose(rows, rows[0] + places * steps, rtol=_CLOSE, atol=_CLOSE):
        return None
    return _of_pairs(steps)


def frequencies_of(table: Tensor, sines: Tensor | None = None) -> Tensor | None:
    """Measure how far a table [..., P, n] turns from a position to the next; None: it does not.

    It holds complex numbers, sines and cosines side by side, or the cosines, with a table of sines.
    """
    if table.is_complex():
        return _of_turns(table) if sines is None else None
    if sines is None:
        first = table.detach().reshape(-1, table.size(-1))[:_FEW]
        pairs = find_pairs(first) if bool(first[-1].any()) else None
        return None if pairs is None else pairs.steps.abs()
    if sines is table or sines.is_complex() or sines.shape != table.shape:
        return None
    return _of_turns(torch.complex(table.float(), sines.float()))


def _of_turns(turns: Tensor) -> Tensor | None:
    """[..., P, n] complex -> [n] or [n / 2]; None unless each row turns as the one before it."""
    rows = turns.detach().reshape(-1, turns.size(-1))[:_FEW]
    steps = rows[1] * rows[0].conj()
    is_still = torch.allclose(rows[0], torch.ones_like(rows[0]), atol=_CLOSE)
    if not is_still or not torch.allclose(rows[1:], rows[:-1] * steps, atol=_CLOSE):
        return None
    return _of_pairs(steps.angle().abs())


def _of_pairs(steps: Tensor) -> Tensor:
    """[n], or [n / 2] where each angle is there twice: in two halves, or as neighbours."""
    if steps.numel() % 2 == 0:
        for first, second in (steps.chunk(2), (steps[0::2], steps[1::2])):
            if torch.allclose(first, second):
                return first
    return steps


class Turns:
    """Notes down products with cosines during a pass."""

    def __init__(self) -> None:
        self.turned: set[int] = set()
        """Calls of attention, by their number, before which something was turned."""
        self.angles: list[Tensor] = []
        """The angles of the cosines [..., T, n], or of complex turns."""
        self._cosines: dict[int, Tensor] = {}
        """Place in memory -> the tensor, so that the place stays its own."""

    def __bool__(self) -> bool:
        """Tell whether the pass made any cosines."""
        return bool(self._cosines)

    def called(self, func: Any, result: Any, args: Sequence[Any], n_seen: int) -> None:
        """A function of TURNING was called, before attention number n_seen."""
        if func in _COSINES:
            self._cosines[result.data_ptr()] = result
            if len(self.angles) < _MOST:
                self.angles.append(args[-1].detach())
        elif self._cosines:
            self._after(func, result, args, n_seen)

    def _after(self, func: Any, result: Any, args: Sequence[Any], n_seen: int) -> None:
        first, second = args[0], args[1] if len(args) > 1 else None
        if isinstance(first, list | tuple):  # cat and stack
            first, second = first[0], None
        is_first, is_second = self._is_made_of(first), self._is_made_of(second)
        if not is_first and not is_second:
            return
        if func in _TIMES and isinstance(second, Tensor) and not (is_first and is_second):
            cosines, other = (first, second) if is_first else (second, first)
            if isinstance(other, Tensor) and other.numel() >= cosines.numel() > 1:
                self.turned.add(n_seen)
                return
        self._cosines[result.data_ptr()] = result

    def _is_made_of(self, value: Any) -> bool:
        return isinstance(value, Tensor) and value.data_ptr() in self._cosines
