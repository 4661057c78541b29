"""The position-wise feed-forward network (AIAYN, section 3.3)."""

import torch.nn.functional as F
from torch import Tensor, nn


class FeedForward(nn.Module):
    """max(0, x W1 + b1) W2 + b2, the same at every position."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.inner = nn.Linear(d_model, d_ff)
        self.outer = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """x: [B, T, D] -> [B, T, D]."""
        return self.outer(F.relu(self.inner(x)))
