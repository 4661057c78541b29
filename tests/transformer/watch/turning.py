"""Modules that turn their queries and keys in one way each, as public code does it."""

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

D, HEADS, D_HEAD = 32, 4, 8
THETA = 100.0 ** -(torch.arange(0, D_HEAD, 2) / D_HEAD)
"""[4] frequencies of a whole head."""
Positions = Callable[[int], Tensor]


def halves(x: Tensor, angles: Tensor) -> Tensor:
    """GPT-NeoX, Llama in Hugging Face: the partner is half a head away."""
    a, b = x.chunk(2, -1)
    return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1)


def neighbours(x: Tensor, angles: Tensor) -> Tensor:
    """RoFormer, GPT-J, Meta's Llama: the partner is the next dimension."""
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)


def moved(x: Tensor, angles: Tensor) -> Tensor:
    """DeepSeek-V3 in Hugging Face: neighbours become halves."""
    return halves(torch.cat([x[..., 0::2], x[..., 1::2]], -1), angles)


class Turning(nn.Module):
    """A layer whose queries and keys are turned by a function of their own."""

    def __init__(
        self,
        turned: Callable[[Tensor], Tensor] = lambda x: x,
        keys: Callable[[Tensor], Tensor] | None = None,
        *,
        fused: bool = True,
        normed: nn.Module | None = None,
        n_shared: int = 1,
    ) -> None:
        super().__init__()
        self.turned, self.turned_keys, self.fused = turned, keys or turned, fused
        self.q, self.k = nn.Linear(D, D), nn.Linear(D, D // n_shared)
        self.v, self.o = nn.Linear(D, D // n_shared), nn.Linear(D, D)
        self.register_buffer("inv_freq", THETA.clone())
        self.normed = normed or nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (
            made(x).unflatten(-1, (-1, D_HEAD)).transpose(1, 2) for made in (self.q, self.k, self.v)
        )
        q, k = self.turned(self.normed(q)), self.turned_keys(self.normed(k))
        if self.fused:
            heads = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        else:
            k, v = (each.repeat_interleave(HEADS // each.size(1), 1) for each in (k, v))
            mask = torch.ones(x.size(1), x.size(1)).triu(1).bool()
            scores = torch.einsum("bhid,bhjd->bhij", q / math.sqrt(D_HEAD), k)
            heads = scores.masked_fill(mask, -torch.inf).softmax(-1) @ v
        result: Tensor = x + self.o(heads.transpose(1, 2).flatten(-2))
        return result


class Reader(nn.Module):
    """Tokens, and layers that turn."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.words, self.layers = nn.Embedding(60, D), nn.ModuleList(layers)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.words(ids)
        for layer in self.layers:
            x = layer(x)
        result: Tensor = x
        return result


def by(
    pairing: Callable[[Tensor, Tensor], Tensor] = halves,
    theta: Tensor = THETA,
    positions: Positions = torch.arange,
    factor: float = 1.0,
) -> Callable[[Tensor], Tensor]:
    """Turn all dimensions by these frequencies at these positions."""

    def turned(x: Tensor) -> Tensor:
        return factor * pairing(x, positions(x.size(-2))[:, None] * theta)

    return turned


def part(
    turned: Callable[[Tensor], Tensor], n: int, *, is_last: bool = False
) -> Callable[[Tensor], Tensor]:
    """Turn n of the dimensions, the first or the last."""

    def some(x: Tensor) -> Tensor:
        at = x.size(-1) - n if is_last else n
        first, last = x[..., :at], x[..., at:]
        return torch.cat([first, turned(last)] if is_last else [turned(first), last], -1)

    return some
