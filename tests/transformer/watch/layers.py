"""Modules whose layers are not one call of one module each."""

import math
from collections.abc import Iterable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

D, HEADS, TOKENS = 12, 3, 8


def split(x: Tensor) -> Tensor:
    """[1, T, D] -> [1, H, T, d]"""
    return x.unflatten(-1, (HEADS, -1)).transpose(1, 2)


def weights_of(q: Tensor, k: Tensor) -> Tensor:
    return (q @ k.mT / math.sqrt(q.size(-1))).softmax(-1)


class Projected(nn.Module):
    """Queries, keys and values of all heads, and W_O."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(D, D) for _ in range(3))
        self.out = nn.Linear(D, D, bias=False)
        self.wanted = torch.empty(0)


class Head(nn.Module):
    """One head, which a layer holds several of."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(D, D // HEADS) for _ in range(3))
        self.wanted = torch.empty(0)

    def forward(self, x: Tensor) -> Tensor:
        weights = weights_of(self.q(x), self.k(x))
        self.wanted = weights[0]
        return weights @ self.v(x)


class FusedHead(Head):
    def forward(self, x: Tensor) -> Tensor:
        q, k = self.q(x), self.k(x)
        self.wanted = weights_of(q, k)[0]
        return F.scaled_dot_product_attention(q, k, self.v(x))


class HeadPerModule(nn.Module):
    """A list of heads that are put side by side, as in "Let's build GPT"."""

    head: type[Head] = Head

    def __init__(self) -> None:
        super().__init__()
        self.heads = nn.ModuleList(self.head() for _ in range(HEADS))
        self.out = nn.Linear(D, D, bias=False)

    @property
    def wanted(self) -> Tensor:
        return torch.stack([head.wanted for head in self.heads])

    def forward(self, x: Tensor) -> Tensor:
        return self.out(torch.cat([head(x) for head in self.heads], -1))


class FusedHeadPerModule(HeadPerModule):
    head = FusedHead


class SummedHeads(HeadPerModule):
    """Every head has a W_O of its own, and what they give is summed."""

    def __init__(self) -> None:
        super().__init__()
        self.outs = nn.ModuleList(nn.Linear(D // HEADS, D, bias=False) for _ in range(HEADS))

    def forward(self, x: Tensor) -> Tensor:
        pairs = zip(self.heads, self.outs, strict=True)
        return sum((out(head(x)) for head, out in pairs), torch.zeros_like(x))


class LoopOverHeads(Projected):
    """Heads one after the other in one forward, stacked."""

    is_fused = False

    def forward(self, x: Tensor) -> Tensor:
        found, heads = [], []
        for q, k, v in zip(*(split(f(x))[0] for f in (self.q, self.k, self.v)), strict=True):
            found.append(weights_of(q, k))
            heads.append(
                F.scaled_dot_product_attention(q[None, None], k[None, None], v[None, None])[0, 0]
                if self.is_fused
                else found[-1] @ v
            )
        self.wanted = torch.stack(found)
        return self.out(torch.stack(heads, 1).flatten(1)[None])


class FusedLoopOverHeads(LoopOverHeads):
    is_fused = True


class Dot(nn.Module):
    """What many keep apart: attention without matrices."""

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return weights_of(q, k) @ v


class WithDot(Projected):
    def __init__(self, dot: Dot | None = None) -> None:
        super().__init__()
        self.dot = dot or Dot()

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = split(self.q(x)), split(self.k(x)), split(self.v(x))
        self.wanted = weights_of(q, k)[0]
        return self.out(self.dot(q, k, v).transpose(1, 2).flatten(-2))


class TwoValues(Projected):
    """Two halves of each value meet the same weights in calls of their own, as in DiffLlama."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = split(self.q(x)), split(self.k(x)), split(self.v(x))
        self.wanted = weights_of(q, k)[0]
        halves = [F.scaled_dot_product_attention(q, k, half) for half in v.chunk(2, -1)]
        return self.out(torch.cat(halves, -1).transpose(1, 2).flatten(-2))


WHOLE = (
    *(HeadPerModule, FusedHeadPerModule, SummedHeads, LoopOverHeads, FusedLoopOverHeads),
    *(WithDot, TwoValues),
)
"""Each is one layer of three heads."""


class Layers(nn.Module):
    """A residual stream through any layers."""

    def __init__(self, layers: Iterable[nn.Module]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = x + layer(F.layer_norm(x, (D,)))
        return x


class Functional(nn.Module):
    """Two layers in one forward, without a module for either."""

    def __init__(self) -> None:
        super().__init__()
        self.matrices = nn.Parameter(torch.randn(2, 4, D, D) / D**0.5)
        self.wanted: list[Tensor] = []

    def forward(self, x: Tensor) -> Tensor:
        self.wanted = []
        for wq, wk, wv, wo in self.matrices:
            q, k, v = split(x @ wq), split(x @ wk), split(x @ wv)
            self.wanted.append(weights_of(q, k)[0])
            heads = F.scaled_dot_product_attention(q, k, v)
            x = x + heads.transpose(1, 2).flatten(-2) @ wo
        return x


class SharedLayer(nn.Module):
    """One layer that runs twice, as in ALBERT."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = WithDot()

    def forward(self, x: Tensor) -> Tensor:
        return x + self.layer(x + self.layer(x))


class TwoCalls(Projected):
    """Two maps of one layer, of which the second is subtracted: the fused call gives no weights."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = split(self.q(x)), split(self.k(x)), split(self.v(x))
        first = F.scaled_dot_product_attention(q, k, v)
        second = F.scaled_dot_product_attention(k, q, v)
        return self.out((first - 0.4 * second).transpose(1, 2).flatten(-2))


class TwoModules(nn.Module):
    """Local and global attention beside each other in every layer."""

    def __init__(self) -> None:
        super().__init__()
        self.near, self.far = WithDot(), WithDot()

    def forward(self, x: Tensor) -> Tensor:
        return self.near(x) + self.far(x)


class Chunks(Projected):
    """Each half of the sequence attends to itself."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = split(self.q(x)), split(self.k(x)), split(self.v(x))
        parts = zip(q.chunk(2, 2), k.chunk(2, 2), v.chunk(2, 2), strict=True)
        heads = torch.cat([weights_of(a, b) @ c for a, b, c in parts], 2)
        return self.out(heads.transpose(1, 2).flatten(-2))


class FusedWindows(Projected):
    """The same with the halves as a batch, for the fused call."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (split(f(x)).unflatten(2, (2, -1)) for f in (self.q, self.k, self.v))
        halves = [it[0].transpose(0, 1) for it in (q, k, v)]  # [2, H, T / 2, d]
        heads = F.scaled_dot_product_attention(*halves).transpose(1, 2).flatten(0, 1)
        return self.out(heads.flatten(1)[None])


class BlockSparse(Projected):
    """The first block reads everything, the others themselves and the first."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = split(self.q(x)), split(self.k(x)), split(self.v(x))
        size = x.size(1) // 4
        first = weights_of(q[:, :, :size], k) @ v
        rest = [
            weights_of(a, torch.cat([k[:, :, :size], b], 2)) @ torch.cat([v[:, :, :size], c], 2)
            for a, b, c in zip(*(it[:, :, size:].chunk(3, 2) for it in (q, k, v)), strict=True)
        ]
        return self.out(torch.cat([first, *rest], 2).transpose(1, 2).flatten(-2))


class FiveAxes(Projected):
    """Blocks as an axis of the products."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (split(f(x)).unflatten(2, (2, -1)) for f in (self.q, self.k, self.v))
        heads = (weights_of(q, k) @ v).flatten(2, 3)
        return self.out(heads.transpose(1, 2).flatten(-2))


class MultiHeadWindows(nn.Module):
    """torch's own attention over the two halves as a batch."""

    def __init__(self) -> None:
        super().__init__()
        self.attend = nn.MultiheadAttention(D, HEADS, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        halves = x.unflatten(1, (2, -1))[0]
        return self.attend(halves, halves, halves)[0].flatten(0, 1)[None]


BLOCKS = (Chunks, FusedWindows, BlockSparse, FiveAxes, MultiHeadWindows)


class Reading(Projected):
    """Cross-attention, said by the name of an argument."""

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        q, k, v = split(self.q(x)), split(self.k(memory)), split(self.v(memory))
        self.wanted = weights_of(q, k)[0]
        return self.out((weights_of(q, k) @ v).transpose(1, 2).flatten(-2))


class Causal(Projected):
    def forward(self, x: Tensor) -> Tensor:
        q, k, v = split(self.q(x)), split(self.k(x)), split(self.v(x))
        heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(heads.transpose(1, 2).flatten(-2))


class DecoderLayer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.own, self.reading = Causal(), Reading()

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        x = x + self.own(x)
        return x + self.reading(x, memory)


class EncoderDecoder(nn.Module):
    """An encoder of any layers, and a decoder of two."""

    def __init__(self, layer: type[nn.Module]) -> None:
        super().__init__()
        self.encoder = Layers(layer() for _ in range(2))
        self.decoder = nn.ModuleList(DecoderLayer() for _ in range(2))

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        memory = self.encoder(source)
        for layer in self.decoder:
            target = layer(target, memory)
        return target


class Convolution(nn.Module):
    """A layer of a hybrid that attends to nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Conv1d(D, D, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return self.mix(x.mT).mT  # type: ignore[no-any-return]


class Wrapped(nn.Module):
    """A model inside another."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, *inputs: Tensor) -> Tensor:
        return self.inner(*inputs)  # type: ignore[no-any-return]
