"""SamLynnEvans/Transformer's modules by their names and formulas."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from tests.transformer.formats.reference.parts import Attention, Stack, later

_NAMES = "q_linear k_linear v_linear out"


def positions(max_len: int, d_model: int) -> Tensor:
    """Sine i and cosine i + 1 of pos / 10000^(2 j / d_model), j being the dimension itself."""
    places = torch.arange(max_len, dtype=torch.float64)[:, None]
    dims = torch.arange(d_model, dtype=torch.float64)
    angles = places / 10000 ** (2 * dims / d_model)
    return torch.where(dims % 2 == 0, angles.sin(), angles.cos()).float()


class Norm(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.alpha = nn.Parameter(torch.ones(size))
        self.bias = nn.Parameter(torch.zeros(size))

    def forward(self, x: Tensor) -> Tensor:
        centred = x - x.mean(-1, keepdim=True)
        variance = centred.square().sum(-1, keepdim=True) / (x.size(-1) - 1)
        return self.alpha * centred / (variance.sqrt() + 1e-6) + self.bias


class Layer(nn.Module):
    """Of the encoder, or with attn_2 of the decoder."""

    def __init__(self, d_model: int, heads: int, d_ff: int, is_decoder: bool) -> None:
        super().__init__()
        self.n_norms = 3 if is_decoder else 2
        for i in range(self.n_norms):
            self.add_module(f"norm_{i + 1}", Norm(d_model))
        self.attentions = ["attn_1", "attn_2"] if is_decoder else ["attn"]
        for name in self.attentions:
            self.add_module(name, Attention(_NAMES, d_model, heads))
        self.ff: Any = Stack(linear_1=nn.Linear(d_model, d_ff), linear_2=nn.Linear(d_ff, d_model))

    def forward(self, x: Tensor, memory: Tensor | None, mask: Tensor | None) -> Tensor:
        norms: list[Any] = [self._modules[f"norm_{i + 1}"] for i in range(self.n_norms)]
        own, *cross = (self._modules[name] for name in self.attentions)
        normed = norms[0](x)
        assert own is not None
        x = x + own(normed, normed, mask)
        for attention in cross:
            assert attention is not None
            x = x + attention(norms[1](x), memory)
        return x + self.ff.linear_2(self.ff.linear_1(norms[-1](x)).relu())


class Coder(nn.Module):
    pe: Any

    def __init__(
        self, vocab: int, d_model: int, n: int, heads: int, d_ff: int, is_decoder: bool
    ) -> None:
        super().__init__()
        self.embed: Any = Stack(embed=nn.Embedding(vocab, d_model))
        self.pe = nn.Module()
        self.pe.register_buffer("pe", positions(200, d_model).unsqueeze(0))
        self.layers = nn.ModuleList(Layer(d_model, heads, d_ff, is_decoder) for _ in range(n))
        self.norm = Norm(d_model)

    def forward(self, ids: Tensor, memory: Tensor | None, mask: Tensor | None) -> Tensor:
        x: Tensor = self.embed.embed(ids)
        x = x * math.sqrt(x.size(-1)) + self.pe.pe[:, : ids.size(1)]
        for layer in self.layers:
            x = layer(x, memory, mask)
        closed: Tensor = self.norm(x)
        return closed


class Transformer(nn.Module):
    def __init__(
        self, d_model: int, heads: int, sources: int, targets: int, d_ff: int, n: int
    ) -> None:
        super().__init__()
        self.encoder = Coder(sources, d_model, n, heads, d_ff, is_decoder=False)
        self.decoder = Coder(targets, d_model, n, heads, d_ff, is_decoder=True)
        self.out = nn.Linear(d_model, targets)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        memory = self.encoder(source, None, None)
        logits: Tensor = self.out(self.decoder(target, memory, later(target.size(1))))
        return logits
