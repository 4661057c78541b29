"""Modules whose softmax counts a key that no value is given for, as different code writes it."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

D, HEADS, TOKENS = 12, 3, 7


class Sink(nn.Module):
    """A causal layer whose softmax counts a logit a head beside the keys, as gpt-oss has it."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(D, 3 * D), nn.Linear(D, D, bias=False)
        self.logit = nn.Parameter(torch.randn(HEADS))
        self.scores = torch.empty(0)

    def column(self, scores: Tensor) -> Tensor:
        """The logits of the sink [..., H, Q, 1]."""
        return self.logit[:, None, None].expand(*scores.shape[:-1], 1)

    def whole(self) -> Tensor:
        """What its softmax gave to keys and sink [H, Q, K + 1]: one formula for all."""
        return torch.cat([self.scores, self.column(self.scores)], -1).softmax(-1)[0].detach()

    def to_weights(self, scores: Tensor) -> Tensor:
        column = self.column(scores)
        return torch.cat([scores, column], -1).softmax(-1)[..., :-1]

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(x).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        later = torch.ones(x.size(1), x.size(1)).triu(1).bool()
        scores = (q @ k.mT / 2).masked_fill(later, -torch.inf)
        self.scores = scores.detach().clone()
        return self.out(self.attend(scores, q, k, v).transpose(1, 2).flatten(-2))

    def attend(self, scores: Tensor, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return self.to_weights(scores) @ v


class First(Sink):
    def to_weights(self, scores: Tensor) -> Tensor:
        return torch.cat([self.column(scores), scores], -1).softmax(-1)[..., 1:]


class Copied(Sink):
    """The column is left out by a copy, not by a view."""

    def to_weights(self, scores: Tensor) -> Tensor:
        weights = torch.cat([self.column(scores), scores], -1).softmax(-1)
        return weights.index_select(-1, torch.arange(1, scores.size(-1) + 1))


class Split(Sink):
    """The column is split off."""

    def to_weights(self, scores: Tensor) -> Tensor:
        both = torch.cat([scores, self.column(scores)], -1).softmax(-1)
        return both.split([scores.size(-1), 1], -1)[0]


class Cast(Sink):
    """The softmax is of other numbers than the scores, and what is left of it is copied."""

    def to_weights(self, scores: Tensor) -> Tensor:
        both = torch.softmax(torch.cat([scores, self.column(scores)], -1).double(), -1)
        return both.to(scores.dtype)[..., : scores.shape[-1]].contiguous()


class Shifted(Sink):
    """transformers/models/gpt_oss: the largest is subtracted, and dropout follows."""

    def to_weights(self, scores: Tensor) -> Tensor:
        both = torch.cat([scores, self.column(scores)], dim=-1)
        both = both - both.max(dim=-1, keepdim=True).values
        weights = F.softmax(both, dim=-1, dtype=both.dtype)[..., :-1]
        return F.dropout(weights, 0.0, training=self.training).to(scores.dtype)


class Grouped(Sink):
    """gpt_oss/torch/model.py: einsums over [Q, groups, heads, d], without a batch."""

    def attend(self, scores: Tensor, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        q, k, v = (each[0].transpose(0, 1) for each in (q, k, v))  # [T, H, d]
        n = len(q)
        q = q[:, :, None]  # [T, H, 1, d]
        k, v = (each[:, :, None].expand(-1, -1, 1, -1) for each in (k, v))
        s = self.logit.reshape(HEADS, 1, 1, 1).expand(-1, -1, n, -1)
        qk = torch.einsum("qhmd,khmd->hmqk", q, k) * 0.5
        qk += torch.triu(qk.new_full((n, n), -torch.inf), diagonal=1)[None, None]
        w = torch.softmax(torch.cat([qk, s], dim=-1), dim=-1)[..., :-1]
        return torch.einsum("hmqk,khmd->qhmd", w, v).flatten(1, 2).transpose(0, 1)[None]


class WrittenOut(Sink):
    """triton's reference: exponentials over their sum and the sink's."""

    def to_weights(self, scores: Tensor) -> Tensor:
        largest = torch.maximum(scores.amax(-1, keepdim=True), self.column(scores))
        exponentials = torch.exp(scores - largest)
        total = exponentials.sum(-1, keepdim=True) + torch.exp(self.column(scores) - largest)
        return exponentials / total


class ByLogarithms(Sink):
    """exp of scores less the logarithm of all that the softmax counts."""

    def to_weights(self, scores: Tensor) -> Tensor:
        both = torch.cat([scores, self.column(scores)], -1)
        return torch.exp(scores - both.logsumexp(-1, keepdim=True))


class OffByOne(Sink):
    """One more in the denominator (Miller 2023): a sink whose logit is 0."""

    def column(self, scores: Tensor) -> Tensor:
        return scores.new_zeros(*scores.shape[:-1], 1)

    def to_weights(self, scores: Tensor) -> Tensor:
        exponentials = scores.exp()
        return exponentials / (1 + exponentials.sum(-1, keepdim=True))


class OffByOneStable(OffByOne):
    def to_weights(self, scores: Tensor) -> Tensor:
        largest = scores.amax(-1, keepdim=True).clamp_min(0)
        exponentials = torch.exp(scores - largest)
        return exponentials.div_(exponentials.sum(-1, keepdim=True).add_(torch.exp(-largest)))


class OffByOnePadded(OffByOne):
    def to_weights(self, scores: Tensor) -> Tensor:
        return F.softmax(F.pad(scores, (0, 1)), -1)[..., :-1]


class OffByOnePaddedFirst(OffByOne):
    def to_weights(self, scores: Tensor) -> Tensor:
        return F.pad(scores, (1, 0), value=0.0).softmax(-1).narrow(-1, 1, scores.size(-1))


class WithValues(Sink):
    """The column is kept, and meets a value of zeros."""

    def attend(self, scores: Tensor, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        weights = torch.cat([scores, self.column(scores)], -1).softmax(-1)
        return weights @ F.pad(v, (0, 0, 0, 1))


class Fused(Sink):
    """A key of zeros, whose logit is in the mask of torch's fused attention."""

    def attend(self, scores: Tensor, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        n = q.size(-2)
        mask = torch.ones(n, n).tril().log()[None, None].expand(1, HEADS, -1, -1)
        mask = torch.cat([mask, self.column(scores)], -1)
        k, v = (F.pad(each, (0, 0, 0, 1)) for each in (k, v))
        return F.scaled_dot_product_attention(q, k, v, mask, scale=0.5)


SINKS = (
    *(
        Sink,
        First,
        Copied,
        Split,
        Cast,
        Shifted,
        Grouped,
        WrittenOut,
        ByLogarithms,
        WithValues,
        Fused,
    ),
    *(OffByOne, OffByOneStable, OffByOnePadded, OffByOnePaddedFirst),
)


FEW = {
    **{"a last column": Sink, "a first column": First, "an einsum": Grouped, "fused": Fused},
    **{"a value of zeros": WithValues, "written out": WrittenOut, "logarithms": ByLogarithms},
    **{"one more": OffByOneStable, "padded": OffByOnePadded},
}


class Sigmoid(Sink):
    """No softmax: nothing else takes what a row lacks."""

    def to_weights(self, scores: Tensor) -> Tensor:
        return torch.sigmoid(scores - math.log(8))


class Exponentials(Sink):
    """Exponentials over no number: what a row lacks is nobody's."""

    def to_weights(self, scores: Tensor) -> Tensor:
        return torch.exp(scores - 4.0)


class Masked(Sink):
    """Weights that a mask takes away after the softmax, which is written out."""

    def to_weights(self, scores: Tensor) -> Tensor:
        exponentials = scores.exp()
        weights = exponentials / exponentials.sum(-1, keepdim=True)
        return weights * torch.tensor([1.0, 0, 1, 1, 0, 1, 1])


class Gated(Sink):
    """A gate for each query after the softmax."""

    def to_weights(self, scores: Tensor) -> Tensor:
        exponentials = scores.exp()
        weights = exponentials / exponentials.sum(-1, keepdim=True)
        return weights * torch.sigmoid(self.column(scores))


NO_SINKS = (Sigmoid, Exponentials, Masked, Gated)
