"""Which attentions' queries and keys were turned: multiplied with cosines made in the pass.

That a model holds frequencies does not say so: Falcon keeps them beside ALiBi, and some models
leave every fourth layer unturned.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

_COSINES = frozenset({Tensor.cos, torch.cos, torch.polar})
_TIMES = frozenset({Tensor.mul, Tensor.mul_, torch.mul})
_CHANGING = frozenset(
    {
        *(Tensor.to, Tensor.type_as, Tensor.float, Tensor.repeat, Tensor.__getitem__),
        *(Tensor.repeat_interleave, torch.repeat_interleave, torch.cat, torch.stack),
    }
)
"""What makes cosines of cosines; views of them begin at the same place in memory."""
TURNING = _COSINES | _TIMES | _CHANGING


class Turns:
    """Notes down products with cosines during a pass."""

    def __init__(self) -> None:
        self.turned: set[int] = set()
        """Calls of attention, by their number, before which something was turned."""
        self._cosines: dict[int, Tensor] = {}
        """Place in memory -> the tensor, so that the place stays its own."""

    def __bool__(self) -> bool:
        """Whether the pass made any cosines."""
        return bool(self._cosines)

    def called(self, func: Any, result: Any, args: Sequence[Any], n_seen: int) -> None:
        """A function of TURNING was called, before attention number n_seen."""
        if func in _COSINES:
            self._cosines[result.data_ptr()] = result
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
