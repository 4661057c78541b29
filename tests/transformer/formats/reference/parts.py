"""What the reference models share: attention as they all write it, and random weights."""

import math
from typing import Any

import torch
from torch import Tensor, nn


def attend(
    q: Tensor, k: Tensor, v: Tensor, n_heads: int, mask: Tensor | None, scale: float | None = None
) -> tuple[Tensor, Tensor]:
    """q, k, v: [B, T, H*d]; mask: True = forbidden -> [B, Q, H*d] and weights [B, H, Q, K]."""
    q, k, v = (x.unflatten(-1, (n_heads, -1)).transpose(1, 2) for x in (q, k, v))
    scores = q @ k.transpose(-1, -2) * (scale or 1 / math.sqrt(q.size(-1)))
    if mask is not None:
        scores = scores.masked_fill(mask, -torch.inf)
    weights = scores.softmax(-1)
    return (weights @ v).transpose(1, 2).flatten(-2), weights


def later(n: int) -> Tensor:
    """True where a key comes after the query: [n, n]."""
    return torch.ones(n, n, dtype=torch.bool).triu(1)


def sines(max_len: int, d_model: int) -> Tensor:
    """The encoding as most code computes it: in single precision, by exp and log."""
    steps = torch.exp(torch.arange(0, d_model, 2) * -(math.log(10000.0) / d_model))
    table = torch.zeros(max_len, d_model)
    positions = torch.arange(max_len).unsqueeze(1)
    table[:, 0::2] = torch.sin(positions * steps)
    table[:, 1::2] = torch.cos(positions * steps)
    return table


def randomised(model: Any) -> Any:
    """Random gains and biases too, so that none can be left out unnoticed."""
    torch.manual_seed(4)
    for parameter in model.parameters():
        if parameter.dim() < 2:
            parameter.data.normal_(0.6, 0.3)
        else:
            parameter.data.normal_(0, 1.5 / math.sqrt(parameter.size(-1)))
    return model.eval().requires_grad_(False)


class Attention(nn.Module):
    """Attention whose four projections go by their code's names: query, key, value, output."""

    def __init__(
        self, names: str, d_model: int, n_heads: int, d_key: int = 0, d_value: int = 0
    ) -> None:
        """d_key, d_value: of one head; 0: d_model / n_heads."""
        super().__init__()
        self.names, self.n_heads = names.split(), n_heads
        keys = (d_key or d_model // n_heads) * n_heads
        values = (d_value or d_model // n_heads) * n_heads
        sizes = (d_model, keys), (d_model, keys), (d_model, values), (values, d_model)
        for name, size in zip(self.names, sizes, strict=True):
            self.add_module(name, nn.Linear(*size))
        self.attn = torch.empty(0)

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        query, key, value, output = (self._modules[name] for name in self.names)
        assert query and key and value and output
        joined, self.attn = attend(query(x), key(memory), value(memory), self.n_heads, mask)
        projected: Tensor = output(joined)
        return projected


class Stack(nn.Module):
    """A module that holds others under names of their code's choosing."""

    def __init__(self, **parts: nn.Module) -> None:
        super().__init__()
        for name, part in parts.items():
            self.add_module(name, part)
