"""karpathy/llama2.c's modules by their names and formulas."""

from typing import Any

import torch
from torch import Tensor, nn

from tests.transformer.formats.reference.parts import Stack, attend, later


class RMSNorm(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x: Tensor) -> Tensor:
        return x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt() * self.weight


def turned(x: Tensor, n_heads: int) -> Tensor:
    """Dimensions 2 i and 2 i + 1 of each head as a complex number, times e^(i pos theta_i)."""
    pairs = torch.view_as_complex(x.unflatten(-1, (n_heads, -1, 2)).contiguous())  # [B, T, H, d/2]
    steps = 10000 ** -(torch.arange(pairs.size(-1)) / pairs.size(-1))
    angles = torch.arange(x.size(1))[:, None] * steps
    turns = torch.polar(torch.ones_like(angles), angles)[:, None]
    return torch.view_as_real(pairs * turns).flatten(-3)


class Attention(nn.Module):
    def __init__(self, dim: int, n_heads: int, n_kv_heads: int) -> None:
        super().__init__()
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads
        inner = dim // n_heads * n_kv_heads
        self.wq, self.wo = nn.Linear(dim, dim, bias=False), nn.Linear(dim, dim, bias=False)
        self.wk, self.wv = nn.Linear(dim, inner, bias=False), nn.Linear(dim, inner, bias=False)
        self.attn = torch.empty(0)

    def forward(self, x: Tensor) -> Tensor:
        q = turned(self.wq(x), self.n_heads)
        k, v = turned(self.wk(x), self.n_kv_heads), self.wv(x)
        k, v = (self.shared(each) for each in (k, v))
        joined, self.attn = attend(q, k, v, self.n_heads, later(x.size(1)))
        output: Tensor = self.wo(joined)
        return output

    def shared(self, x: Tensor) -> Tensor:
        """Each key head for several queries that follow each other."""
        by_head = x.unflatten(-1, (self.n_kv_heads, -1))
        return by_head.repeat_interleave(self.n_heads // self.n_kv_heads, dim=2).flatten(-2)


class Layer(nn.Module):
    def __init__(self, dim: int, n_heads: int, n_kv_heads: int, hidden: int) -> None:
        super().__init__()
        self.attention = Attention(dim, n_heads, n_kv_heads)
        sizes = {"w1": (dim, hidden), "w2": (hidden, dim), "w3": (dim, hidden)}
        linears = {name: nn.Linear(*size, bias=False) for name, size in sizes.items()}
        self.feed_forward: Any = Stack(**linears)
        self.attention_norm, self.ffn_norm = RMSNorm(dim), RMSNorm(dim)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.attention_norm(x))
        normed = self.ffn_norm(x)
        gate = self.feed_forward.w1(normed)
        return x + self.feed_forward.w2(gate * gate.sigmoid() * self.feed_forward.w3(normed))


class Transformer(nn.Module):
    def __init__(
        self, dim: int, n_layers: int, n_heads: int, n_kv_heads: int, vocab: int, hidden: int
    ) -> None:
        super().__init__()
        self.tok_embeddings = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList(
            Layer(dim, n_heads, n_kv_heads, hidden) for _ in range(n_layers)
        )
        self.norm = RMSNorm(dim)
        self.output = nn.Linear(dim, vocab, bias=False)
        self.output.weight = self.tok_embeddings.weight

    def forward(self, text: Tensor) -> Tensor:
        x = self.tok_embeddings(text)
        for layer in self.layers:
            x = layer(x)
        logits: Tensor = self.output(self.norm(x))
        return logits
