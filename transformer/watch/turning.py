"""Which attentions' queries and keys were turned: multiplied with cosines made in the pass.

That a model holds frequencies does not say so: Falcon keeps them beside ALiBi, and some models
leave every fourth layer unturned.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from transformer.watch.seen import storage

_COSINES = frozenset({Tensor.cos, torch.cos, torch.polar})
_TIMES = frozenset({Tensor.mul, Tensor.mul_, torch.mul})
_CHANGING = frozenset(
    {
        *(Tensor.to, Tensor.type_as, Tensor.float, Tensor.repeat, Tensor.__getitem__),
        *(Tensor.repeat_interleave, torch.repeat_interleave, torch.cat, torch.stack),
    }
)
"""What makes cosines of cosines; views of them are known by their storage."""
TURNING = _COSINES | _TIMES | _CHANGING


class Turns:
    """Notes down products with cosines during a pass."""

    def __init__(self) -> None:
        self.turned: set[int] = set()
        """Calls of attention, by their number, before which something was turned."""
        self._cosines: dict[int, Tensor] = {}
        """Storage -> the tensor, so that the storage stays its own."""

    def __bool__(self) -> bool:
        """Whether the pass made any cosines."""
        return bool(self._cosines)

    def called(self, func: Any, result: Any, args: Sequence[Any], n_seen: int) -> None:
        """A function of TURNING was called, before attention number n_seen."""
        if func in _COSINES:
            self._cosines[storage(result)] = result
        elif self._cosines:
            self._after(func, result, args, n_seen)

    def _after(self, func: Any, result: Any, args: Sequence[Any], n_seen: int) -> None:
        first = args[0][0] if isinstance(args[0], list | tuple) and args[0] else args[0]
        operands = [each for each in (first, *args[1:]) if isinstance(each, Tensor)]
        known = [storage(each) in self._cosines for each in operands]
        if not any(known):
            return
        if func in _TIMES and len(operands) == 2 and not all(known):
            cosines, other = operands if known[0] else operands[::-1]
            if other.numel() >= cosines.numel() > 1:
                self.turned.add(n_seen)
                return
        if isinstance(result, Tensor):
            self._cosines[storage(result)] = result
