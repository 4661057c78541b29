"""Queries and keys that were picked out of a sequence: whose rows or columns they are is unknown.

Informer, for one, lets the few queries attend whose scores differ most, in any order.
"""

import weakref
from collections.abc import Sequence
from typing import Any

from torch import Tensor


class Picked:
    """Tensors [..., T, d] whose positions were taken out of others, for as long as they live."""

    def __init__(self) -> None:
        self._known: dict[int, weakref.ref[Tensor]] = {}

    def __contains__(self, tensor: Tensor) -> bool:
        return any(
            each is not None and id(each) in self._known and self._known[id(each)]() is each
            for each in (tensor, tensor._base)
        )

    def indexed(self, args: Sequence[Any], kwargs: Any, result: Tensor) -> None:
        """torch has taken `tensor[indices]`, where None stands for a whole axis."""
        tensor, indices = args[:2]
        axis = tensor.dim() - 2
        if tensor.dim() < 3 or not tensor.is_floating_point() or len(indices) <= axis:
            return
        if isinstance(indices[axis], Tensor):
            picked = self._known
            key = id(result)
            picked[key] = weakref.ref(result, lambda _: picked.pop(key, None))
