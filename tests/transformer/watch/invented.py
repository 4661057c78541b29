"""Modules that nothing in the project knows: attention as people write it themselves."""

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

D, HEADS, TOKENS = 12, 3, 7


class HeadsAsAxis(nn.Module):
    """Heads on an axis of their own, causal; as in minGPT."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.drop = nn.Dropout(0.1)

    def forward(self, x: Tensor) -> Tensor:
        n, t, _ = x.shape
        q, k, v = (y.view(n, t, HEADS, -1).transpose(1, 2) for y in self.qkv(x).split(D, 2))
        scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        mask = torch.tril(torch.ones(t, t)).view(1, 1, t, t)
        scores = scores.masked_fill(mask == 0, float("-inf"))
        self.wanted = scores.softmax(-1)[0]
        y = self.drop(F.softmax(scores, dim=-1)) @ v
        return x + self.out(y.transpose(1, 2).contiguous().view(n, t, D))


class HeadsInBatch(nn.Module):
    """Heads folded into the batch, as in the first fairseq and pbloem's former."""

    def __init__(self) -> None:
        super().__init__()
        self.to_q, self.to_k, self.to_v = (nn.Linear(D, D, bias=False) for _ in range(3))
        self.unify = nn.Linear(D, D)

    def forward(self, x: Tensor) -> Tensor:
        n, t, _ = x.shape

        def folded(y: Tensor) -> Tensor:
            y = y.view(n, t, HEADS, -1).transpose(1, 2).contiguous()
            return y.view(n * HEADS, t, -1)

        q, k, v = folded(self.to_q(x)), folded(self.to_k(x)), folded(self.to_v(x))
        dot = torch.bmm(q / q.size(-1) ** 0.25, (k / k.size(-1) ** 0.25).transpose(1, 2))
        dot = F.softmax(dot, dim=2)
        self.wanted = dot
        out = torch.bmm(dot, v).view(n, HEADS, t, -1).transpose(1, 2)
        return self.unify(out.contiguous().view(n, t, D))


class Bare(nn.Module):
    """One head and no projections: x attends to itself."""

    def forward(self, x: Tensor) -> Tensor:
        weights = torch.softmax(torch.matmul(x, x.transpose(1, 2)), dim=-1)
        self.wanted = weights
        return torch.matmul(weights, x)


class Letters(nn.Module):
    """einsum, with heads between queries and what is in them, and -1e9 for a mask."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(D, D) for _ in range(3))
        self.o = nn.Linear(D, D)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (f(x).unflatten(-1, (HEADS, -1)) for f in (self.q, self.k, self.v))
        scores = torch.einsum("bqhd,bkhd->bqhk", q, k) / 2
        scores = scores + torch.tensor([0.0] * (TOKENS - 2) + [-1e9] * 2)
        weights = scores.softmax(dim=3)
        self.wanted = weights[0].transpose(0, 1)
        heads = torch.einsum("bqhk,bkhd->bqhd", weights, v)
        return self.o(heads.flatten(-2))


class Fused(nn.Module):
    """scaled_dot_product_attention with matrices of its own instead of layers."""

    def __init__(self) -> None:
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (
            nn.Parameter(torch.randn(D, D) / D**0.5) for _ in range(4)
        )

    def forward(self, x: Tensor) -> Tensor:
        def split(y: Tensor) -> Tensor:
            return y.unflatten(-1, (HEADS, -1)).transpose(-3, -2)

        q, k, v = split(x @ self.wq), split(x @ self.wk), split(x @ self.wv)
        self.wanted = (q @ k.mT / math.sqrt(D / HEADS)).softmax(-1)[0]
        heads = F.scaled_dot_product_attention(q, k, v)
        return heads.transpose(-3, -2).flatten(-2) @ self.wo


class TorchLayer(nn.Module):
    """nn.MultiheadAttention, asked for its weights."""

    def __init__(self) -> None:
        super().__init__()
        self.attend = nn.MultiheadAttention(D, HEADS, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        out, weights = self.attend(x, x, x, average_attn_weights=False)
        self.wanted = weights[0]
        return out


class Groups(nn.Module):
    """einsum with dots, and two heads for each group of keys and values."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v = nn.Linear(D, D), nn.Linear(D, D // 2), nn.Linear(D, D // 2)
        self.o = nn.Linear(D, D)

    def forward(self, x: Tensor) -> Tensor:
        q = self.q(x).unflatten(-1, (2, 2, 3))  # [B, T, groups, heads, d]
        k, v = self.k(x).unflatten(-1, (2, 3)), self.v(x).unflatten(-1, (2, 3))
        weights = torch.einsum("...qgrd,...kgd->...grqk", q, k).softmax(-1)
        self.wanted = weights[0].flatten(0, 1)
        return self.o(torch.einsum("...grqk, ...kgd -> ...qgrd", weights, v).flatten(-3))


STYLES: tuple[Callable[[], nn.Module], ...] = (
    HeadsAsAxis,
    HeadsInBatch,
    Bare,
    Letters,
    Groups,
    Fused,
    TorchLayer,
)


class Stack(nn.Module):
    """Layers of one style, and a classifier whose softmax is no attention."""

    def __init__(self, style: Callable[[], nn.Module], n_layers: int = 2) -> None:
        super().__init__()
        self.things = nn.ModuleList(style() for _ in range(n_layers))
        self.classify = nn.Linear(D, 5)

    def forward(self, x: Tensor) -> Tensor:
        for thing in self.things:
            x = F.layer_norm(thing(x), (D,))
        return self.classify(x).softmax(-1)


class Classifier(nn.Module):
    """Softmaxes in plenty, none of them attention."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Parameter(torch.randn(D, TOKENS))
        self.router, self.head = nn.Linear(D, TOKENS), nn.Linear(D, TOKENS)
        self.experts = nn.ModuleList(nn.Linear(D, D) for _ in range(TOKENS))
        self.table = nn.Parameter(torch.randn(TOKENS, D))

    def forward(self, x: Tensor) -> Tensor:
        outputs = torch.stack([expert(x) for expert in self.experts], -2)  # [1, T, E, D]
        routed = torch.einsum("bte,bted->btd", self.router(x).softmax(-1), outputs)
        gated = (x @ self.gate).softmax(-1)[..., None, :] @ outputs  # learned: no keys
        mixed = (x @ self.table.mT).softmax(-1) @ self.table
        alike = (x @ x.mT).softmax(-1)  # meets no values
        features = x.softmax(-1) @ (x.mT @ x)
        y = routed + gated.squeeze(-2) + mixed + features
        return F.log_softmax(self.head(y), -1) + self.head(y).softmax(-1) + alike.sum()
