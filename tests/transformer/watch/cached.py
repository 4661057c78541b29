"""Modules that keep the keys and values of earlier passes themselves, each in its own way."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

D, HEADS, LONGEST = 12, 3, 16


class Cached(nn.Module):
    """A causal layer; `grown` adds keys and values [1, H, T, d] to those of earlier passes."""

    is_fused = False

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.wanted = torch.empty(0)

    def grown(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(x).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        k, v = self.grown(k, v)
        n, total = q.size(-2), k.size(-2)
        is_open = torch.ones(n, total).tril(total - n).bool()
        scores = (q @ k.mT / math.sqrt(q.size(-1))).masked_fill(~is_open, -torch.inf)
        self.wanted = scores.softmax(-1)[0]
        if self.is_fused:
            heads = F.scaled_dot_product_attention(q, k, v, None if n == 1 else is_open)
        else:
            heads = scores.softmax(-1) @ v
        return x + self.out(heads.transpose(1, 2).flatten(-2))


class Assigned(Cached):
    """Buffers that are assigned anew in each pass."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("keys", torch.zeros(1, HEADS, 0, D // HEADS))
        self.register_buffer("values", torch.zeros(1, HEADS, 0, D // HEADS))

    def grown(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        self.keys = torch.cat([self.keys, k], dim=2)
        self.values = torch.cat([self.values, v], dim=2)
        return self.keys, self.values


class Written(Cached):
    """Static buffers that are written in place."""

    def __init__(self) -> None:
        super().__init__()
        self.n = 0
        self.keep("keys", torch.zeros(1, HEADS, LONGEST, D // HEADS))
        self.keep("values", torch.zeros(1, HEADS, LONGEST, D // HEADS))

    def keep(self, name: str, zeros: Tensor) -> None:
        self.register_buffer(name, zeros)

    def grown(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        first, self.n = self.n, self.n + k.size(2)
        self.keys[:, :, first : self.n], self.values[:, :, first : self.n] = k, v
        return self.keys[:, :, : self.n], self.values[:, :, : self.n]


class FusedAndWritten(Written):
    """The same, for the fused call."""

    is_fused = True


class PlainAttribute(FusedAndWritten):
    """Static tensors that are not buffers, as in Llama's first code."""

    def keep(self, name: str, zeros: Tensor) -> None:
        setattr(self, name, zeros)


STYLES = (Assigned, Written, FusedAndWritten, PlainAttribute)


class Decoder(nn.Module):
    """Layers of one style."""

    def __init__(self, style: type[Cached]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(style() for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x
