"""Passes in bfloat16 on a CPU that multiplies it faster; the weights themselves stay float32."""

from contextlib import AbstractContextManager
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel


def is_faster() -> bool:
    """Whether this CPU has matrix instructions for bfloat16 (AMX).

    AVX-512's bfloat16 does not suffice: with it alone products are slower than in float32 (75
    GFLOP/s against 120 on one core of a Xeon of 2023).
    """
    return bool(torch.cpu.get_capabilities().get("amx_bf16", False))


class HalfCopy:
    """A copy of a model in bfloat16 that computes the gradients of the original."""

    def __init__(self, model: nn.Module) -> None:
        self.original: list[Tensor] = list(model.parameters())
        self.model: Any = deepcopy(model).to(torch.bfloat16)
        self.weights: list[Tensor] = list(self.model.parameters())

    @torch.no_grad()
    def refresh(self) -> None:
        """Take over the original's weights."""
        torch._foreach_copy_(self.weights, self.original)

    def hand_over(self) -> None:
        """Move the gradients to the original, in float32."""
        for original, weight in zip(self.original, self.weights, strict=True):
            original.grad = None if weight.grad is None else weight.grad.float()
            weight.grad = None


def plain_attention() -> AbstractContextManager[Any]:
    """Softmax written out: the fused attention's backward pass is slow in bfloat16 on a CPU."""
    return sdpa_kernel(SDPBackend.MATH)
