"""Values of weights, looked at as they are read: none of them is NaN, or too large to be kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import EllipsisType

import torch
from torch import Tensor

from transformer.checkpoint import CheckpointError
from transformer.device import PRECISION
from transformer.files.foreign_text import clean
from transformer.files.tensors import Unread


@dataclass(frozen=True)
class CheckedValues:
    """A tensor that is refused where a model of this precision could not hold it."""

    checkpoint: str
    name: str
    values: Unread
    dtype: torch.dtype

    def __getitem__(self, all: EllipsisType, /) -> Tensor:
        """Raises CheckpointError. One pass over them, with nothing beside: `isfinite` takes ten
        times as long."""
        values = self.values[...]
        if not values.is_floating_point() or not values.numel():
            return values
        low, high = values.aminmax()
        largest = max(-float(low), float(high))
        if not largest < float("inf") or float(low) != float(low):
            raise CheckpointError(
                f"{self.checkpoint}: {clean(self.name)} holds NaN or infinite values."
            )
        if largest > torch.finfo(self.dtype).max:
            name = str(self.dtype).removeprefix("torch.")
            raise CheckpointError(
                f"{self.checkpoint}: {clean(self.name)} holds {largest:.3g}, which {name} cannot: "
                f"{PRECISION}=bfloat16 or float32 can."
            )
        return values


def checked_values(
    checkpoint: str, tensors: Mapping[str, Unread], dtype: torch.dtype
) -> dict[str, CheckedValues]:
    """Each of them. checkpoint: its name. dtype: that they will have."""
    return {name: CheckedValues(checkpoint, name, it, dtype) for name, it in tensors.items()}
