"""Addends of scores, between the product that makes them and their softmax."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer.watch.calls.masks import split


@dataclass(frozen=True, eq=False)
class Addend:
    """A tensor that was added to scores: a mask, a bias, or both in one."""

    tensor: Tensor
    factor: float = 1.0
    """The factor of the sum later, and of the addend itself, where it was subtracted."""

    @property
    def sign(self) -> float:
        return -1.0 if self.factor < 0 else 1.0


def carried(addends: tuple[Addend, ...], func: Any, args: Sequence[Any]) -> tuple[Addend, ...]:
    """Carry them over a function: all as they are or scaled; nothing where unclear."""
    if func in _KEEPING:
        return addends
    factor = _factor(func, args)
    if factor is None:
        return ()
    return tuple(replace(each, factor=each.factor * factor) for each in addends)


def _factor(func: Any, args: Sequence[Any]) -> float | None:
    """Find the factor of a function that scales its first argument; None for any other function."""
    by = args[1] if len(args) == 2 else None
    if isinstance(by, Tensor) and by.numel() == 1:
        by = by.item()
    if isinstance(by, bool) or not isinstance(by, int | float):
        return None
    return float(by) if func in TIMES else 1 / by if func in _OVER and by else None


ADDITIONS = {
    **dict.fromkeys((Tensor.add, Tensor.add_, torch.add), 1.0),
    **dict.fromkeys((Tensor.sub, Tensor.sub_, torch.sub), -1.0),
}
"""Functions that add, and the factor of what they add."""
TIMES = frozenset({Tensor.mul, Tensor.mul_, torch.mul})
_OVER = frozenset({Tensor.div, Tensor.div_, torch.div})
_KEEPING = frozenset(
    {
        *(Tensor.view, Tensor.reshape, torch.reshape, Tensor.flatten, Tensor.unflatten),
        *(Tensor.unsqueeze, Tensor.squeeze, Tensor.contiguous, Tensor.expand, Tensor.clone),
        *(Tensor.to, Tensor.float, Tensor.type, Tensor.type_as, F.dropout, torch.dropout),
        *(Tensor.masked_fill, Tensor.masked_fill_, torch.masked_fill, torch.where, Tensor.where),
    }
)
"""Functions after which the same was added to the same cells, but for those that a mask closed."""


def bias_of(addends: Iterable[Addend], sizes: Sequence[int]) -> Tensor | None:
    """Sum what was added to scores of sizes (H, Q, K) beside masks [1 or H, 1 or Q, K], or None."""
    total: Tensor | None = None
    for addend in addends:
        spread = _of_cells(addend.tensor, sizes)
        if spread is None:
            return None
        bias = None if addend.sign < 0 else split(spread).bias  # some subtract a row's largest
        if bias is not None:
            bias = bias.float() * addend.factor
            total = bias if total is None else total + bias
    return total


def covered_by(addends: Iterable[Addend], sizes: Sequence[int]) -> Tensor | None:
    """Cells [1 or H, 1 or Q, K] that addends close or cover as masks do; None where none does."""
    total: Tensor | None = None
    for addend in addends:
        spread = _of_cells(addend.tensor, sizes)
        is_open = None if spread is None else split(spread * addend.sign).uncovered
        if is_open is not None:
            total = ~is_open if total is None else total | ~is_open
    return total


def _of_cells(addend: Tensor, sizes: Sequence[int]) -> Tensor | None:
    """Spread it as [1 or H, 1 or Q, K]; None where it is of another size."""
    addend = addend.detach()
    addend = addend.flatten(0, -3) if addend.dim() > 3 else addend
    addend = addend.reshape(*(1,) * (3 - addend.dim()), *addend.shape)
    if any(own not in (1, size) for own, size in zip(addend.shape, sizes, strict=True)):
        return None
    return addend.expand(-1, -1, sizes[-1])
