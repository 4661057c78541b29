"""Passes in bfloat16 on a CPU that multiplies it faster; the weights themselves stay float32."""

import os
from contextlib import AbstractContextManager
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from transformer.device import DeviceError
from transformer.refusal import quoted

HALF = "HEADSCOPE_HALF"


def uses_half() -> bool:
    """Read HEADSCOPE_HALF, yes or no: passes on a CPU in bfloat16; auto: where it is faster.

    Raises DeviceError.
    """
    text = os.environ.get(HALF, "auto")
    if text not in ("yes", "no", "auto"):
        raise DeviceError(f"{HALF} must be yes, no or auto, not {quoted(text)}.")
    return is_faster() if text == "auto" else text == "yes"


def is_faster() -> bool:
    """Tell whether this CPU has matrix instructions for bfloat16 (AMX), or AMD's AVX-512 for it.

    Intel's AVX-512 does not suffice: with it alone products are slower than in float32 (75 GFLOP/s
    against 120 on one core of a Xeon of 2023; 205 against 82 on one of an EPYC of 2023).
    """
    able = torch.cpu.get_capabilities()
    is_amd = str(able.get("cpu_name", "")).startswith("AMD")
    return bool(able.get("amx_bf16", False) or (is_amd and able.get("avx512_bf16", False)))


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


def plain_attention() -> AbstractContextManager[Any]:
    """Softmax written out: the fused attention's backward pass is slow in bfloat16 on a CPU."""
    return sdpa_kernel(SDPBackend.MATH)
