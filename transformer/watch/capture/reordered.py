"""Positions that a model puts into another order: its rows are then other words than are named."""

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor

from transformer.watch.capture.tensors import tensors_in


class Reordered:
    """Ids or states of a text, [T], [1, T] or [1, T, D], that were turned round or permuted."""

    def __init__(self, inputs: Iterable[object]) -> None:
        self._texts = [each for each in tensors_in(inputs) if 0 < each.dim() < 3]
        self._times: list[tuple[int, str]] = []

    def flipped(self, tensor: Tensor, axes: Sequence[int], n_seen: int) -> None:
        """torch.flip along these axes. n_seen: calls of attention before it."""
        axis = self._axis(tensor)
        if axis is not None and axis in (each % tensor.dim() for each in axes):
            self._times.append((n_seen, "flip"))

    def rolled(
        self, tensor: Tensor, shifts: Sequence[int], axes: Sequence[int], n_seen: int
    ) -> None:
        """torch.roll by these shifts along these axes."""
        axis, own = self._axis(tensor), [each % tensor.dim() for each in axes]
        if axis in own and shifts[own.index(axis)] % tensor.size(axis):
            self._times.append((n_seen, "roll"))

    def indexed(self, tensor: Tensor, indices: Sequence[Any], n_seen: int) -> None:
        """tensor[indices], where None stands for a whole axis."""
        axis = self._axis(tensor)
        order = None if axis is None or len(indices) <= axis else indices[axis]
        if isinstance(order, Tensor) and order.dtype != torch.bool and order.dim() == 1:
            places = torch.arange(len(order), device=order.device)
            is_order = len(order) > 1 and bool(torch.equal(order.sort().values, places))
            if is_order and not torch.equal(order, places):
                self._times.append((n_seen, "an index"))

    def notes(self, n_seen: int) -> tuple[str, ...]:
        """A sentence where that was before one of n_seen calls of attention; else nothing."""
        names = sorted({name for at, name in self._times if at < n_seen})
        if not names:
            return ()
        return (
            f"The model puts its positions into another order before attention ({names[0]}): "
            "rows and columns may be other tokens than those that they are named after.",
        )

    def _axis(self, tensor: Tensor) -> int | None:
        """The axis of the positions; None where a tensor is neither a text nor its states."""
        if tensor.is_floating_point():
            is_text = any(tensor.shape[:2] == (1, each.size(-1)) for each in self._texts)
            return 1 if tensor.dim() == 3 and is_text else None
        if any(tensor.shape == each.shape and torch.equal(tensor, each) for each in self._texts):
            return tensor.dim() - 1
        return None
