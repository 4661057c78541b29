"""Modules that do what few do between queries and W_O, as some families of the library."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from tests.transformer.watch.layers import HEADS, D, Projected, split, weights_of


class AddedInPlace(Projected):
    """VITS: what the values do not give is added to what they give, where it lies."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (split(f(x))[0] for f in (self.q, self.k, self.v))
        self.wanted = weights_of(q, k)
        heads = self.wanted @ v
        heads += 0.5
        return self.out(heads.transpose(0, 1).reshape(1, -1, D))  # type: ignore[no-any-return]


class KeysOfTwoSorts(Projected):
    """LUKE: words and entities have scores of their own, and one softmax."""

    n_words = 5

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (split(f(x)) for f in (self.q, self.k, self.v))
        words, entities = k[:, :, : self.n_words], k[:, :, self.n_words :]
        scores = torch.cat([q @ words.mT, q @ entities.mT], dim=-1) / math.sqrt(D // HEADS)
        weights = scores.softmax(-1)
        self.wanted = weights[0]
        return self.out((weights @ v).transpose(1, 2).flatten(-2))  # type: ignore[no-any-return]


class Picking(Projected):
    """Informer: queries attend in the order of how far their scores differ."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (split(f(x))[0] for f in (self.q, self.k, self.v))
        order = (q @ k.mT).std(-1).argsort(-1, descending=True)
        heads = torch.arange(HEADS)[:, None]
        mixed = weights_of(q[heads, order], k) @ v
        back = torch.empty_like(mixed)
        back[heads, order] = mixed
        return self.out(back.transpose(0, 1).reshape(1, -1, D))  # type: ignore[no-any-return]


class GlobalAndBlocks(Projected):
    """Pegasus-X: two global tokens read everything; the others read their block, and them."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (split(f(x)) for f in (self.q, self.k, self.v))
        padding = torch.zeros(k.size(2))
        padding[-2:] = -1e9
        of_all = ((q[:, :, :2] @ k.mT / math.sqrt(D // HEADS)) + padding).softmax(-1) @ v
        rest = [each[:, :, 2:].unflatten(2, (2, -1)) for each in (q, k, v)]
        scores = torch.cat(
            [rest[0] @ k[:, :, None, :2].mT, torch.einsum("bhnqd,bhnkd->bhnqk", *rest[:2])], -1
        )
        weights = (scores / math.sqrt(D // HEADS)).softmax(-1)
        of_blocks = weights[..., :2] @ v[:, :, None, :2] + weights[..., 2:] @ rest[2]
        heads = torch.cat([of_all, of_blocks.flatten(2, 3)], dim=2)
        return self.out(heads.transpose(1, 2).flatten(-2))  # type: ignore[no-any-return]


class TwoStreams(Projected):
    """ProphetNet: streams of the same tokens, all at once, beside the attention of one."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (split(f(x)) for f in (self.q, self.k, self.v))
        main = weights_of(q, k) @ v
        twice = [torch.stack([each, each.flip(2)], 1).repeat(1, 1, 1, 2, 1) for each in (k, v)]
        both = torch.stack([q, q], 1)
        weights = (torch.einsum("bnhqd,bnhkd->bnhqk", both, twice[0])).softmax(-1)
        streams = torch.einsum("bnhqk,bnhkd->bnhqd", weights, twice[1]).sum(1)
        joined = (main + streams).transpose(1, 2).flatten(-2)
        return self.out(joined)  # type: ignore[no-any-return]


class GridWindows(Projected):
    """ViTDet: an attention over a grid, its windows and heads one axis."""

    def forward(self, x: Tensor) -> Tensor:
        n_windows, height, width, _ = x.shape
        q, k, v = (
            f(x).view(n_windows, -1, HEADS, D // HEADS).transpose(1, 2).flatten(0, 1)
            for f in (self.q, self.k, self.v)
        )
        heads = (weights_of(q, k) @ v).view(n_windows, HEADS, height * width, -1)
        joined = heads.transpose(1, 2).reshape(n_windows, height, width, D)
        return self.out(joined)  # type: ignore[no-any-return]


class Windowed(nn.Module):
    """Cuts a grid of 4 by 2 into two windows."""

    def __init__(self) -> None:
        super().__init__()
        self.attend = GridWindows()

    def forward(self, x: Tensor) -> Tensor:
        return self.attend(x.view(2, 2, 2, D)).view(1, -1, D)  # type: ignore[no-any-return]


class PoolingHead(nn.Module):
    """SigLIP: an image in one vector, by torch's own attention of one learned query."""

    def __init__(self) -> None:
        super().__init__()
        self.probe = nn.Parameter(torch.randn(1, 1, D))
        self.attend = nn.MultiheadAttention(D, HEADS, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.attend(self.probe.repeat(1, 1, 1), x, x)[0]  # type: ignore[no-any-return]


class LearnedParts(Projected):
    """AIMv2: queries and a bias that are parameters themselves."""

    def __init__(self) -> None:
        super().__init__()
        self.asking = nn.Parameter(torch.randn(1, 4, D))
        self.bias = nn.Parameter(torch.randn(4, 8))

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = map(split, (self.asking, self.k(x), self.v(x)))
        heads = nn.functional.scaled_dot_product_attention(q, k, v, self.bias)
        return self.out(heads.transpose(1, 2).flatten(-2))  # type: ignore[no-any-return]


class Merged(Projected):
    """T5Gemma-2: a decoder reads itself and the encoder in one softmax."""

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        both = torch.cat([x, memory], dim=1)
        q, k, v = (split(f(y)) for f, y in ((self.q, x), (self.k, both), (self.v, both)))
        heads = nn.functional.scaled_dot_product_attention(q, k, v)
        return self.out(heads.transpose(1, 2).flatten(-2))  # type: ignore[no-any-return]


class Doubling(torch.autograd.Function):
    """What torch maps over a batch by an operator that is made of Python."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        return x * 2

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return grad * 2


class Mapped(Projected):
    """T5Gemma-2's masks: `vmap` over a function with a derivative of its own."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (split(f(x)) for f in (self.q, self.k, self.v))
        q = torch.func.vmap(Doubling.apply)(q)
        self.wanted = weights_of(q, k)[0]
        heads = nn.functional.scaled_dot_product_attention(q, k, v)
        return self.out(heads.transpose(1, 2).flatten(-2))  # type: ignore[no-any-return]


class ByIndex(Projected):
    """Falcon: queries, keys and values lie beside each other, and an index takes one of them."""

    def forward(self, x: Tensor) -> Tensor:
        together = torch.stack([f(x) for f in (self.q, self.k, self.v)], dim=2)  # [1, T, 3, D]
        q, k, v = (split(together[:, :, [i]].flatten(2)) for i in range(3))
        self.wanted = weights_of(q, k)[0]
        heads = self.attended(q, k, v)
        return self.out(heads.transpose(1, 2).flatten(-2))  # type: ignore[no-any-return]

    def attended(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return nn.functional.scaled_dot_product_attention(q, k, v)


class ByIndexAndHand(ByIndex):
    def attended(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return (q @ k.mT / math.sqrt(D // HEADS)).softmax(-1) @ v


EXACT = (ByIndex, ByIndexAndHand, AddedInPlace, KeysOfTwoSorts, Mapped)
