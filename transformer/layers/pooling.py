"""From one vector a position to one vector a text."""

import torch
from torch import Tensor, nn

from transformer.config import Pooling


class Pool(nn.Module):
    """The mean, or each dimension's largest value, over positions that are not padding."""

    def __init__(self, pooling: Pooling) -> None:
        super().__init__()
        self.pooling = pooling

    def forward(self, x: Tensor, real: Tensor) -> Tensor:
        """x: [B, T, D]; real: bool [B, T] -> [B, D]."""
        if self.pooling == "max":
            return x.masked_fill(~real[..., None], -torch.inf).amax(1)
        real_states = x.masked_fill(~real[..., None], 0.0)
        return real_states.sum(1) / real.sum(1, keepdim=True)
