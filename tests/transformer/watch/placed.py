"""Modules that the tests invent, which tell positions apart in one way each."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer.layers.embedding import sinusoids
from transformer.positions.relative_bias import paper_slopes

D, HEADS, MAX_LEN = 16, 4, 40


def distances(n: int) -> Tensor:
    """key - query [n, n]."""
    places = torch.arange(n)
    return places - places[:, None]


class Layer(nn.Module):
    """Attention with whatever `bias` and `turned` a subclass wants."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(D, 3 * D), nn.Linear(D, D)

    def bias(self, n: int) -> Tensor | None:
        return None

    def turned(self, x: Tensor) -> Tensor:
        return x

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(x).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        q, k = self.turned(q), self.turned(k)
        heads = F.scaled_dot_product_attention(q, k, v, self.bias(x.size(1)))
        return x + self.out(heads.transpose(1, 2).flatten(-2))


class Alibi(Layer):
    """Symmetric, as encoders have it."""

    def bias(self, n: int) -> Tensor:
        return -paper_slopes(HEADS)[:, None, None] * distances(n).abs()


class Learned(Layer):
    """A number a head and distance, of its own in each layer."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = nn.Parameter(torch.randn(2 * MAX_LEN, HEADS))

    def bias(self, n: int) -> Tensor:
        return F.embedding(distances(n) + MAX_LEN, self.numbers).permute(2, 0, 1)


class Noise(Layer):
    """A bias that depends on more than distance."""

    def bias(self, n: int) -> Tensor:
        return distances(n) * torch.arange(n) * torch.ones(HEADS, 1, 1)


class Turning(Layer):
    """Rotary, half of each head's dimensions, neighbours as pairs."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("inv_freq", 100.0 ** -torch.arange(1))

    def turned(self, x: Tensor) -> Tensor:
        angles = torch.arange(x.size(-2))[:, None] * self.inv_freq  # [T, 1]
        a, b = x[..., :1], x[..., 1:2]
        cos, sin = angles.cos(), angles.sin()
        return torch.cat([a * cos - b * sin, a * sin + b * cos, x[..., 2:]], -1)


class Stack(nn.Module):
    """Tokens, and layers of one sort."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.words = nn.Embedding(50, D)
        self.layers = nn.ModuleList(layers)

    def embedded(self, ids: Tensor) -> Tensor:
        return math.sqrt(D) * self.words(ids)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embedded(ids)
        for layer in self.layers:
            x = layer(x)
        return x


class Sliced(Stack):
    """A buffer's first rows, as the Annotated Transformer has them, with an axis for the batch."""

    def __init__(self) -> None:
        super().__init__(Layer())
        self.register_buffer("pe", sinusoids(MAX_LEN, D)[None])

    def embedded(self, ids: Tensor) -> Tensor:
        return super().embedded(ids) + self.pe[:, : ids.size(1)]


class InPlace(Stack):
    """A parameter is added to what is there."""

    def __init__(self) -> None:
        super().__init__(Layer())
        self.places = nn.Parameter(torch.randn(MAX_LEN, D))

    def embedded(self, ids: Tensor) -> Tensor:
        x = super().embedded(ids)
        x += self.places[: ids.size(1)]
        return x


class Plain(Stack):
    """A table in a plain attribute, which is no buffer, cloned."""

    def __init__(self) -> None:
        super().__init__(Layer())
        self.table = sinusoids(MAX_LEN, D)[None]

    def embedded(self, ids: Tensor) -> Tensor:
        return super().embedded(ids) + self.table[:, : ids.size(1)].clone().detach()


class Indexed(Plain):
    """Rows taken by an index."""

    def embedded(self, ids: Tensor) -> Tensor:
        return Stack.embedded(self, ids) + self.table[:, torch.arange(ids.size(1))]


class Scaled(Stack):
    """A learned table times a learned factor, as ESPnet scales its sinusoids."""

    def __init__(self) -> None:
        super().__init__(Layer())
        self.table, self.factor = nn.Parameter(torch.randn(MAX_LEN, D)), nn.Parameter(torch.rand(1))

    def embedded(self, ids: Tensor) -> Tensor:
        return self.factor * self.table[: ids.size(1)] + super().embedded(ids)


class Computed(Stack):
    """Sinusoids that are made anew in each pass."""

    def __init__(self) -> None:
        super().__init__(Layer())

    def embedded(self, ids: Tensor) -> Tensor:
        return super().embedded(ids) + sinusoids(ids.size(1), D)


class Beside(Stack):
    """Positions that are concatenated: nothing is added."""

    def __init__(self) -> None:
        super().__init__(Layer())
        self.places, self.joins = nn.Embedding(MAX_LEN, D), nn.Linear(2 * D, D)

    def embedded(self, ids: Tensor) -> Tensor:
        places = self.places(torch.arange(ids.size(1)))[None]
        return self.joins(torch.cat([super().embedded(ids), places], -1))  # type: ignore[no-any-return]


FREQUENCIES = 100.0 ** -(torch.arange(2) / 2)


class OtherName(Turning):
    """Frequencies under a name of their own, each angle twice."""

    def __init__(self) -> None:
        super().__init__()
        self.theta = FREQUENCIES
        del self.inv_freq

    def turned(self, x: Tensor) -> Tensor:
        angles = torch.arange(x.size(-2))[:, None] * self.theta.repeat(2)  # [T, 4]
        a, b = x.chunk(2, -1)
        return x * angles.cos() + torch.cat([-b, a], -1) * angles.sin()


class Complex(OtherName):
    """Complex numbers that are made beforehand, as in Llama's first code."""

    def __init__(self) -> None:
        super().__init__()
        angles = torch.arange(MAX_LEN)[:, None] * FREQUENCIES
        self.freqs_cis = torch.polar(torch.ones_like(angles), angles)

    def turned(self, x: Tensor) -> Tensor:
        pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
        return torch.view_as_real(pairs * self.freqs_cis[: x.size(-2)]).flatten(-2)


class TwoTables(OtherName):
    """Cosines and sines in buffers of their own."""

    def __init__(self) -> None:
        super().__init__()
        angles = torch.arange(MAX_LEN)[:, None] * FREQUENCIES.repeat(2)
        self.register_buffer("cosines", angles.cos()[None, None])
        self.register_buffer("sines", angles.sin()[None, None])

    def turned(self, x: Tensor) -> Tensor:
        a, b = x.chunk(2, -1)
        n = x.size(-2)
        return x * self.cosines[:, :, :n] + torch.cat([-b, a], -1) * self.sines[:, :, :n]


class Several(Stack):
    """Rows of positions, and others, added in ways of their own."""

    def __init__(self, how: str) -> None:
        super().__init__(Layer(), Layer())
        self.how = how
        self.places, self.segments = nn.Embedding(MAX_LEN, D), nn.Embedding(2, D)
        self.register_buffer("pe", sinusoids(MAX_LEN, D))

    def embedded(self, ids: Tensor) -> Tensor:
        x, n = super().embedded(ids), ids.size(1)
        p, segment = self.places(torch.arange(n)), self.segments(torch.zeros_like(ids))
        sums = {
            "never": lambda: x,
            "once": lambda: x + p,
            "twice": lambda: x + p + p,
            "learned and fixed": lambda: x + p + self.pe[:n],
            "both first": lambda: x + (self.pe[:n] + p),
            "words last": lambda: p + segment + x,
            "segments last": lambda: x + p + segment,
            "half as large": lambda: x + 0.5 * p,
        }
        return sums[self.how]()

    def encodings(self, n: int) -> Tensor:
        """The encodings that these sums hold [n, D]."""
        p, fixed = self.places.weight[:n], self.pe[:n]
        fixed = fixed if self.how in ("learned and fixed", "both first") else 0 * fixed
        return {"never": 0, "twice": 2, "half as large": 0.5}.get(self.how, 1) * p + fixed


class BetweenLayers(Several):
    """Positions that the second layer alone is given."""

    def forward(self, ids: Tensor) -> Tensor:
        x = self.layers[0](Stack.embedded(self, ids))
        result: Tensor = self.layers[1](x + self.places(torch.arange(ids.size(1))))
        return result


class OfOneSide(nn.Module):
    """Torch's own layers, with positions for some sides."""

    def __init__(self, sides: str, *, norm_first: bool) -> None:
        super().__init__()
        self.sides = sides.split()
        self.words = nn.ModuleDict({it: nn.Embedding(50, D) for it in ("source", "target")})
        self.places = nn.ModuleDict({it: nn.Embedding(MAX_LEN, D) for it in ("source", "target")})
        made = {"dropout": 0.0, "batch_first": True, "norm_first": norm_first}
        self.encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(D, HEADS, 20, **made), 2, enable_nested_tensor=False
        )
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(D, HEADS, 20, **made), 2)

    def embedded(self, side: str, ids: Tensor) -> Tensor:
        x: Tensor = self.words[side](ids)
        return x + self.places[side](torch.arange(ids.size(1))) if side in self.sides else x

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        x, y = self.embedded("source", source), self.embedded("target", target)
        n = target.size(1)
        later = torch.ones(n, n).triu(1).bool()
        result: Tensor = self.decoder(y, self.encoder(x), tgt_mask=later)
        return result
