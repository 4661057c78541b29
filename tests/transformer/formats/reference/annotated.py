"""The Annotated Transformer's modules by their names and formulas."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from tests.transformer.formats.reference.parts import Stack, attend, later, sines


class LayerNorm(nn.Module):
    def __init__(self, features: int) -> None:
        super().__init__()
        self.a_2 = nn.Parameter(torch.ones(features))
        self.b_2 = nn.Parameter(torch.zeros(features))

    def forward(self, x: Tensor) -> Tensor:
        spread = x.std(-1, keepdim=True) + 1e-6
        return self.a_2 * (x - x.mean(-1, keepdim=True)) / spread + self.b_2


class MultiHeadedAttention(nn.Module):
    def __init__(self, h: int, d_model: int) -> None:
        super().__init__()
        self.h = h
        self.linears = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4))
        self.attn = torch.empty(0)

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None) -> Tensor:
        q, k, v = (linear(y) for linear, y in zip(self.linears, (x, memory, memory), strict=False))
        joined, self.attn = attend(q, k, v, self.h, mask)
        output: Tensor = self.linears[3](joined)
        return output


class Layer(nn.Module):
    """Of the encoder, or with src_attn of the decoder."""

    def __init__(self, h: int, d_model: int, d_ff: int, is_decoder: bool) -> None:
        super().__init__()
        self.self_attn = MultiHeadedAttention(h, d_model)
        if is_decoder:
            self.src_attn = MultiHeadedAttention(h, d_model)
        self.feed_forward: Any = Stack(w_1=nn.Linear(d_model, d_ff), w_2=nn.Linear(d_ff, d_model))
        n = 3 if is_decoder else 2
        self.sublayer: Any = nn.ModuleList(Stack(norm=LayerNorm(d_model)) for _ in range(n))

    def forward(self, x: Tensor, memory: Tensor | None, mask: Tensor | None) -> Tensor:
        normed = self.sublayer[0].norm(x)
        x = x + self.self_attn(normed, normed, mask)
        if memory is not None:
            x = x + self.src_attn(self.sublayer[1].norm(x), memory, None)
        fed = self.feed_forward.w_1(self.sublayer[-1].norm(x)).relu()
        return x + self.feed_forward.w_2(fed)


class Coder(nn.Module):
    def __init__(self, n: int, h: int, d_model: int, d_ff: int, is_decoder: bool) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(h, d_model, d_ff, is_decoder) for _ in range(n))
        self.norm = LayerNorm(d_model)

    def forward(self, x: Tensor, memory: Tensor | None, mask: Tensor | None) -> Tensor:
        for layer in self.layers:
            x = layer(x, memory, mask)
        normed: Tensor = self.norm(x)
        return normed


class PositionalEncoding(nn.Module):
    pe: Tensor

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.register_buffer("pe", sines(5000, d_model).unsqueeze(0))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.pe[:, : x.size(1)]


class EncoderDecoder(nn.Module):
    def __init__(self, d_model: int, h: int, sources: int, targets: int, d_ff: int, n: int) -> None:
        super().__init__()
        self.d_model = d_model
        self.encoder = Coder(n, h, d_model, d_ff, is_decoder=False)
        self.decoder = Coder(n, h, d_model, d_ff, is_decoder=True)
        self.src_embed = self.embed(sources, d_model)
        self.tgt_embed = self.embed(targets, d_model)
        self.generator: Any = Stack(proj=nn.Linear(d_model, targets))

    @staticmethod
    def embed(vocab: int, d_model: int) -> Any:
        return nn.Sequential(Stack(lut=nn.Embedding(vocab, d_model)), PositionalEncoding(d_model))

    def embedded(self, embed: Any, ids: Tensor) -> Tensor:
        placed: Tensor = embed[1](embed[0].lut(ids) * math.sqrt(self.d_model))
        return placed

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        memory = self.encoder(self.embedded(self.src_embed, source), None, None)
        x = self.embedded(self.tgt_embed, target)
        logits: Tensor = self.generator.proj(self.decoder(x, memory, later(target.size(1))))
        return logits
