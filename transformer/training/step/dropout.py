"""Dropout whose masks are drawn ahead: on a CPU, drawing them anew takes a sixth of a step."""

from functools import cache

import torch
from torch import Tensor, nn

from transformer.training.step.randomness import generator

POOL = 1 << 22
"""Values drawn once; a mask is a stretch of them that begins anywhere."""


class PooledDropout(nn.Module):
    """A kind of `nn.Dropout` whose masks are cut from one long row of random numbers."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        """x of any shape -> the same; in evaluation x itself."""
        if not self.training or not self.p:
            return x
        mask = _pool(self.p, x.dtype)
        if x.numel() >= len(mask):
            return x * _mask(torch.rand(x.shape, generator=generator()), self.p, x.dtype)
        start = int(torch.randint(len(mask) - x.numel(), (), generator=generator()))
        return x * mask[start : start + x.numel()].view(x.shape)


def pool_dropout(model: nn.Module) -> None:
    """Put PooledDropout in place of each nn.Dropout of a model; neither has weights."""
    for module in list(model.modules()):
        for name, child in module.named_children():
            if isinstance(child, nn.Dropout):
                setattr(module, name, PooledDropout(child.p))


@cache
def _pool(p: float, dtype: torch.dtype) -> Tensor:
    """1 / (1 - p) with probability 1 - p, else 0: [POOL]."""
    random = torch.Generator().manual_seed(1)
    return _mask(torch.rand(POOL, generator=random), p, dtype)


def _mask(random: Tensor, p: float, dtype: torch.dtype) -> Tensor:
    return (random >= p).to(dtype) / (1 - p)
