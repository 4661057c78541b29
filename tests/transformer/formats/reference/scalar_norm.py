"""An encoder-decoder whose norms have one gain and one bias, on what a sublayer gives."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from tests.transformer.formats.reference.parts import Stack, attend, later, sines


class LayerNormalization(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gain, self.bias = nn.Parameter(torch.ones(1)), nn.Parameter(torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        centred = x - x.mean(-1, keepdim=True)
        deviation = centred.square().mean(-1, keepdim=True).sqrt()
        return self.gain * centred / (deviation + 1e-6) + self.bias


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, h: int) -> None:
        super().__init__()
        self.h = h
        for letter in "QKVO":
            self.add_module(f"W_{letter}", nn.Linear(d_model, d_model, bias=False))
        self.attn = torch.empty(0)

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        query, key, value, output = (self._modules[f"W_{letter}"] for letter in "QKVO")
        assert query and key and value and output
        joined, self.attn = attend(query(x), key(memory), value(memory), self.h, mask)
        projected: Tensor = output(joined)
        return projected


class Layer(nn.Module):
    """Of the encoder, or of the decoder; parts in one of two orders, under other names."""

    def __init__(self, d_model: int, h: int, d_ff: int, is_decoder: bool, others: bool) -> None:
        super().__init__()
        names = ("self_attention", "cross_attention") if others else ("attention_1", "attention_2")
        attentions = [MultiHeadAttention(d_model, h) for _ in range(2 if is_decoder else 1)]
        named = list(zip(names, attentions, strict=False))
        for name, attention in reversed(named) if others else named:
            self.add_module(name, attention)
        self.own, self.last = names[0], names[-1] if is_decoder else None
        linears = {"linear_1": nn.Linear(d_model, d_ff), "linear_2": nn.Linear(d_ff, d_model)}
        self.feedforward: Any = Stack(**linears)
        n = 3 if is_decoder else 2
        self.residuals: Any = nn.ModuleList(Stack(norm=LayerNormalization()) for _ in range(n))

    @property
    def cross(self) -> Any:
        return self._modules[str(self.last)]

    def forward(self, x: Tensor, memory: Tensor | None, mask: Tensor | None) -> Tensor:
        own: Any = self._modules[self.own]
        x = x + self.residuals[0].norm(own(x, x, mask))
        if memory is not None:
            x = x + self.residuals[1].norm(self.cross(x, memory))
        fed = self.feedforward.linear_2(self.feedforward.linear_1(x).relu())
        summed: Tensor = x + self.residuals[-1].norm(fed)
        return summed


class Coder(nn.Module):
    def __init__(
        self, d_model: int, h: int, d_ff: int, n: int, is_decoder: bool, others: bool
    ) -> None:
        super().__init__()
        layers = (Layer(d_model, h, d_ff, is_decoder, others) for _ in range(n))
        self.layers = nn.ModuleList(layers)
        if others:
            self.norm = LayerNormalization()

    def forward(self, x: Tensor, memory: Tensor | None, mask: Tensor | None) -> Tensor:
        for layer in self.layers:
            x = layer(x, memory, mask)
        return self.norm(x) if hasattr(self, "norm") else x


class Transformer(nn.Module):
    """others: put together in another way, with norms that close both stacks."""

    def __init__(
        self, d_model: int, h: int, sources: int, targets: int, d_ff: int, n: int, others: bool
    ) -> None:
        super().__init__()
        self.input: Any = Stack(embedding=nn.Embedding(sources, d_model))
        self.output: Any = Stack(embedding=nn.Embedding(targets, d_model))
        self.position = nn.Module()
        self.position.register_buffer("pe", sines(40, d_model).unsqueeze(0))
        self.encoder = Coder(d_model, h, d_ff, n, is_decoder=False, others=others)
        self.decoder = Coder(d_model, h, d_ff, n, is_decoder=True, others=others)
        self.project: Any = Stack(linear=nn.Linear(d_model, targets))

    def embedded(self, embedding: Any, ids: Tensor) -> Tensor:
        x: Tensor = embedding.embedding(ids)
        pe: Any = self.position.pe
        return x * math.sqrt(x.size(-1)) + pe[:, : ids.size(1)]

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        memory = self.encoder(self.embedded(self.input, source), None, None)
        x = self.embedded(self.output, target)
        logits: Tensor = self.project.linear(self.decoder(x, memory, later(target.size(1))))
        return logits
