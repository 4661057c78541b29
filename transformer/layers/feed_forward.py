"""The position-wise feed-forward network (AIAYN, section 3.3)."""

from collections.abc import Callable
from functools import partial

import torch.nn.functional as F
from torch import Tensor, nn

from transformer.config import Activation
from transformer.layers.linear import Linear

_ACTIVATIONS: dict[Activation, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),
    "swish": F.silu,
}


class FeedForward(nn.Module):
    """activation(x W1 + b1) W2 + b2, the same at every position."""

    def __init__(self, d_model: int, d_ff: int, activation: Activation = "relu") -> None:
        super().__init__()
        self.inner = Linear(d_model, d_ff)
        self.activation = _ACTIVATIONS[activation]
        self.outer = Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """x: [B, T, D] -> [B, T, D]."""
        return self.outer(self.activation(self.inner(x)))
