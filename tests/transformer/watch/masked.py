"""Modules whose masks are of every sort: what is closed is closed, and what is low is not."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

D, HEADS, TOKENS = 12, 3, 6


def split(x: Tensor) -> Tensor:
    """[1, T, D] -> [1, H, T, d]"""
    return x.unflatten(-1, (HEADS, -1)).transpose(1, 2)


class Masked(nn.Module):
    """A layer that is given what is added to its scores [1 or H, Q, K], or a mask of bools."""

    def __init__(self, mask: Tensor | None, by: float = 1.0, shift: float = 0.0) -> None:
        """by: how many times as large scores are; shift: what each of them has besides."""
        super().__init__()
        torch.manual_seed(2)
        self.qkv, self.out = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.mask, self.by, self.shift = mask, by, shift
        self.wanted = torch.empty(0)

    def heads(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        q, k, v = map(split, self.qkv(x).chunk(3, -1))
        if self.shift:
            q, k = (F.pad(each, (0, 1), value=1.0) for each in (self.by * q, k))
            k = torch.cat([k[..., :-1], torch.full_like(k[..., -1:], self.shift)], -1)
        return (q if self.shift else self.by * q), k, v

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.heads(x)
        heads = self.attend(q, k, v)
        return self.out(heads.transpose(1, 2).flatten(-2))  # type: ignore[no-any-return]

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        raise NotImplementedError


class Added(Masked):
    """By hand, with the mask added."""

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        scores = q @ k.mT / math.sqrt(D // HEADS)
        weights = self.masked(scores).softmax(-1)
        self.wanted = weights[0]
        return weights @ v

    def masked(self, scores: Tensor) -> Tensor:
        if self.mask is None:
            return scores
        if self.mask.dtype == torch.bool:
            return scores.masked_fill(~self.mask, -torch.inf)
        return scores + self.mask


class AddedInPlace(Added):
    def masked(self, scores: Tensor) -> Tensor:
        if self.mask is None or self.mask.dtype == torch.bool:
            return super().masked(scores)
        scores += self.mask
        return scores


class Filled(Added):
    """The number of the mask takes the place of the score."""

    def masked(self, scores: Tensor) -> Tensor:
        if self.mask is None or self.mask.dtype == torch.bool:
            return super().masked(scores)
        return torch.where(self.mask == 0, scores, self.mask)


class Subtracted(Added):
    def masked(self, scores: Tensor) -> Tensor:
        if self.mask is None or self.mask.dtype == torch.bool:
            return super().masked(scores)
        return scores - -self.mask


class Fused(Masked):
    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        scores = q @ k.mT / math.sqrt(D // HEADS)
        self.wanted = Added.masked(self, scores).softmax(-1)[0]  # type: ignore[arg-type]
        if self.mask is not None and self.mask.dtype == torch.bool:
            self.wanted = self.wanted.nan_to_num(0)  # a closed row is 0 here
        scale = 1 / math.sqrt(D // HEADS)
        return F.scaled_dot_product_attention(q, k, v, self.mask, scale=scale)


STYLES = (Added, AddedInPlace, Filled, Subtracted, Fused)
CAUSAL = torch.ones(TOKENS, TOKENS).tril().bool()
PADDED = CAUSAL & (torch.arange(TOKENS) >= 2)  # the first two rows may read nothing


def mask(is_open: Tensor, number: float) -> Tensor:
    """What is added to scores: 0, and a number where a mask covers."""
    return torch.zeros(is_open.shape).masked_fill(~is_open, number)
