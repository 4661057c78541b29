"""Modules that change their weights between softmax and values, or add keys to those of a text."""

import math

import torch
from torch import Tensor, nn

D, HEADS, TOKENS = 12, 3, 7


class Causal(nn.Module):
    """A causal layer by hand; what met its values is `wanted`, its softmax `softmax`."""

    n_maps = HEADS

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k = nn.Linear(D, self.n_maps * 4), nn.Linear(D, self.n_maps * 4)
        self.v, self.out = nn.Linear(D, D), nn.Linear(D, D, bias=False)
        self.wanted = self.softmax = torch.empty(0)

    def to_weights(self, scores: Tensor) -> Tensor:
        self.softmax = scores.softmax(-1)
        return self.changed(self.softmax)

    def changed(self, weights: Tensor) -> Tensor:
        return weights

    def forward(self, x: Tensor) -> Tensor:
        q, k = (f(x).unflatten(-1, (self.n_maps, -1)).transpose(1, 2) for f in (self.q, self.k))
        v = self.v(x).unflatten(-1, (HEADS, -1)).transpose(1, 2)
        later = torch.ones(x.size(1), x.size(1)).triu(1).bool()
        weights = self.to_weights((q @ k.mT / 2).masked_fill(later, -torch.inf))
        self.wanted = weights[0]
        heads = (weights @ v).transpose(1, 2).flatten(-2)
        return self.out(heads)  # type: ignore[no-any-return]


class MixedByEinsum(Causal):
    """Talking heads: each head's weights are a mixture of all heads' softmaxes."""

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Parameter(torch.randn(HEADS, HEADS))

    def changed(self, weights: Tensor) -> Tensor:
        return torch.einsum("bhqk,hg->bgqk", weights, self.mix)


class MixedByLinear(MixedByEinsum):
    def changed(self, weights: Tensor) -> Tensor:
        return nn.functional.linear(weights.permute(0, 2, 3, 1), self.mix).permute(0, 3, 1, 2)


class MixedByProduct(MixedByEinsum):
    def changed(self, weights: Tensor) -> Tensor:
        return (weights.permute(0, 2, 3, 1) @ self.mix).permute(0, 3, 1, 2)


class MixedByConvolution(Causal):
    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Conv2d(HEADS, HEADS, 1, bias=False)

    def changed(self, weights: Tensor) -> Tensor:
        return self.mix(weights)  # type: ignore[no-any-return]


class Halved(Causal):
    def changed(self, weights: Tensor) -> Tensor:
        return weights * 0.5


class Gated(Causal):
    """One gate per head."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Parameter(torch.randn(HEADS, 1, 1))

    def changed(self, weights: Tensor) -> Tensor:
        return self.gate.sigmoid() * weights


class Sparse(Causal):
    """The three largest weights of each row, renormalised."""

    def changed(self, weights: Tensor) -> Tensor:
        least = weights.topk(3, -1).values[..., -1:]
        kept = torch.where(weights < least, 0.0, weights)
        return kept / kept.sum(-1, keepdim=True)


class Difference(Causal):
    """Differential attention: one map less a share of another, two softmaxes a head."""

    n_maps = 2 * HEADS

    def changed(self, weights: Tensor) -> Tensor:
        pairs = weights.unflatten(1, (HEADS, 2))
        return pairs[:, :, 0] - 0.4 * pairs[:, :, 1]


class DifferenceOfChunks(Difference):
    def changed(self, weights: Tensor) -> Tensor:
        first, second = weights.chunk(2, 1)
        return first - 0.4 * second


CHANGES = (
    *(MixedByEinsum, MixedByLinear, MixedByProduct, MixedByConvolution, Halved, Gated, Sparse),
    *(Difference, DifferenceOfChunks),
)


class KeyFirst(nn.Module):
    """A learned key and value stand before those of the tokens, open to every query."""

    is_causal, is_fused = True, False

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(D, 3 * D), nn.Linear(D, D, bias=False)
        self.extra = nn.Parameter(torch.randn(2, 1, HEADS, 1, D // HEADS))
        self.wanted = torch.empty(0)

    def joined(self, extra: Tensor, x: Tensor) -> Tensor:
        return torch.cat([extra, x], -2)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(x).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        k, v = self.joined(self.extra[0], k), self.joined(self.extra[1], v)
        n = x.size(1)
        mask = torch.ones(1, 1, n, n).tril().bool() if self.is_causal else torch.ones(1, 1, n, n)
        mask = self.joined(torch.ones(1, 1, 1, n), mask.float().mT).mT.bool()
        scores = (q @ k.mT / math.sqrt(q.size(-1))).masked_fill(~mask, -torch.inf)
        self.wanted = scores.softmax(-1)[0]
        if self.is_fused:
            heads = nn.functional.scaled_dot_product_attention(q, k, v, mask)
        else:
            heads = scores.softmax(-1) @ v
        return self.out(heads.transpose(1, 2).flatten(-2))  # type: ignore[no-any-return]


class KeyLast(KeyFirst):
    def joined(self, extra: Tensor, x: Tensor) -> Tensor:
        return torch.cat([x, extra], -2)


class FusedKeyFirst(KeyFirst):
    is_fused = True


class FusedKeyLast(KeyLast):
    is_fused = True


class OpenKeyFirst(KeyFirst):
    """An encoder."""

    is_causal = False


EXTRA_KEYS = (KeyFirst, KeyLast, FusedKeyFirst, FusedKeyLast, OpenKeyFirst)
