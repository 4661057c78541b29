"""Translators whose layers compute both attentions in one forward, however they are written."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

D, HEADS = 12, 3


def split(x: Tensor) -> Tensor:
    """[1, T, D] -> [1, H, T, d]"""
    return x.unflatten(-1, (HEADS, -1)).transpose(1, 2)


def by_hand(q: Tensor, k: Tensor, v: Tensor, is_causal: bool) -> Tensor:
    scores = q @ k.mT / 2
    if is_causal:
        later = torch.ones(scores.shape[-2:]).triu(1).bool()
        scores = scores.masked_fill(later, -torch.inf)
    return scores.softmax(-1) @ v


def fused(q: Tensor, k: Tensor, v: Tensor, is_causal: bool) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)


class Layer(nn.Module):
    """Self-attention and, where it is given another sequence, cross-attention."""

    def __init__(self, attend: Callable[..., Tensor]) -> None:
        super().__init__()
        self.w = nn.ModuleList(nn.Linear(D, D) for _ in range(8))
        self.attend = attend

    def read(self, x: Tensor) -> Tensor:
        """What matrices read of a sequence."""
        return x

    def turned(self, x: Tensor) -> Tensor:
        """What is done to queries and keys."""
        return x

    def attended(self, x: Tensor, y: Tensor, first: int, is_causal: bool) -> Tensor:
        q, k, v = (f(z) for f, z in zip(self.w[first : first + 3], (x, y, y), strict=True))
        q, k = self.turned(split(q)), self.turned(split(k))
        heads = self.attend(q, k, split(v), is_causal)
        return self.w[first + 3](heads.transpose(1, 2).flatten(-2))  # type: ignore[no-any-return]

    def forward(self, x: Tensor, y: Tensor | None = None) -> Tensor:
        z = self.read(x)
        x = x + self.attended(z, z, 0, y is not None)
        return x if y is None else x + self.attended(self.read(x), y, 4, False)


class PreNorm(Layer):
    def read(self, x: Tensor) -> Tensor:
        return F.layer_norm(x, (D,))


class Turned(Layer):
    """Queries and keys are new tensors."""

    def turned(self, x: Tensor) -> Tensor:
        places = torch.arange(x.size(-2))[:, None]
        return x * places.cos() + x.roll(1, -1) * places.sin()


class OddNames(Layer):
    """The other sequence has the name of one's own, and the other way round."""

    def forward(self, memory: Tensor, x: Tensor | None = None) -> Tensor:  # type: ignore[override]
        return super().forward(memory, x)


class FusedMatrices(Layer):
    """One matrix gives queries, keys and values; another one the other's keys and values."""

    def __init__(self, attend: Callable[..., Tensor]) -> None:
        super().__init__(attend)
        self.qkv, self.kv = nn.Linear(D, 3 * D), nn.Linear(D, 2 * D)

    def attended(self, x: Tensor, y: Tensor, first: int, is_causal: bool) -> Tensor:
        if not first:
            q, k, v = map(split, self.qkv(x).chunk(3, -1))
        else:
            q, (k, v) = split(self.w[4](x)), map(split, self.kv(y).chunk(2, -1))
        heads = self.attend(q, k, v, is_causal)
        return self.w[first + 3](heads.transpose(1, 2).flatten(-2))  # type: ignore[no-any-return]


class Translator(nn.Module):
    """Two layers on each side, under names that tell nothing."""

    def __init__(
        self, layer: type[Layer], attend: Callable[..., Tensor], names: str = "ab"
    ) -> None:
        super().__init__()
        torch.manual_seed(6)
        self.names = names
        for name in names:
            self.add_module(name, nn.ModuleList(layer(attend) for _ in range(2)))

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        one, other = (self.get_submodule(name) for name in self.names)
        for each in one.children():
            source = each(source)
        for each in other.children():
            target = each(target, source)
        return target


LAYERS = (Layer, PreNorm, Turned, OddNames, FusedMatrices)
