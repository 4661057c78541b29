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
