"""joeynmt's modules by their names and formulas."""

import math
from typing import Any

from torch import Tensor, nn

from tests.transformer.formats.reference.parts import Attention, Stack, later, sines

_NAMES = "q_layer k_layer v_layer output_layer"


class Layer(nn.Module):
    """Of the encoder, or with src_trg_att of the decoder."""

    def __init__(self, size: int, heads: int, ff: int, is_pre: bool, is_decoder: bool) -> None:
        super().__init__()
        self.is_pre, self.is_decoder = is_pre, is_decoder
        if is_decoder:
            self.trg_trg_att = Attention(_NAMES, size, heads)
            self.src_trg_att = Attention(_NAMES, size, heads)
            self.x_layer_norm = nn.LayerNorm(size, eps=1e-6)
            self.dec_layer_norm = nn.LayerNorm(size, eps=1e-6)
        else:
            self.layer_norm = nn.LayerNorm(size, eps=1e-6)
            self.src_src_att = Attention(_NAMES, size, heads)
        linears = nn.Linear(size, ff), nn.ReLU(), nn.Dropout(), nn.Linear(ff, size), nn.Dropout()
        norm = nn.LayerNorm(size, eps=1e-6)
        self.feed_forward: Any = Stack(layer_norm=norm, pwff_layer=nn.Sequential(*linears))

    def summed(self, x: Tensor, norm: Any, sublayer: Any) -> Tensor:
        added: Tensor = x + sublayer(norm(x)) if self.is_pre else norm(x + sublayer(x))
        return added

    def forward(self, x: Tensor, memory: Tensor | None, mask: Tensor | None) -> Tensor:
        feed = self.feed_forward
        if memory is None:
            x = self.summed(x, self.layer_norm, lambda y: self.src_src_att(y, y))
        else:
            x = self.summed(x, self.x_layer_norm, lambda y: self.trg_trg_att(y, y, mask))
            x = self.summed(x, self.dec_layer_norm, lambda y: self.src_trg_att(y, memory))
        return self.summed(x, feed.layer_norm, feed.pwff_layer)


class Coder(nn.Module):
    pe: Any

    def __init__(
        self, size: int, heads: int, ff: int, n: int, is_pre: bool, is_decoder: bool
    ) -> None:
        super().__init__()
        layers = (Layer(size, heads, ff, is_pre, is_decoder) for _ in range(n))
        self.layers = nn.ModuleList(layers)
        self.pe = nn.Module()
        self.pe.register_buffer("pe", sines(5000, size).unsqueeze(0))
        self.layer_norm = nn.LayerNorm(size, eps=1e-6) if is_pre else None

    def forward(self, x: Tensor, memory: Tensor | None, mask: Tensor | None) -> Tensor:
        x = x + self.pe.pe[:, : x.size(1)]
        for layer in self.layers:
            x = layer(x, memory, mask)
        return x if self.layer_norm is None else self.layer_norm(x)


class Model(nn.Module):
    def __init__(
        self, size: int, heads: int, sources: int, targets: int, ff: int, n: int, is_pre: bool
    ) -> None:
        super().__init__()
        self.scale = math.sqrt(size)
        self.src_embed: Any = Stack(lut=nn.Embedding(sources, size, padding_idx=1))
        self.trg_embed: Any = Stack(lut=nn.Embedding(targets, size, padding_idx=1))
        self.encoder = Coder(size, heads, ff, n, is_pre, is_decoder=False)
        self.decoder = Coder(size, heads, ff, n, is_pre, is_decoder=True)
        self.decoder.output_layer = nn.Linear(size, targets, bias=False)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        memory = self.encoder(self.src_embed.lut(source) * self.scale, None, None)
        x = self.trg_embed.lut(target) * self.scale
        states = self.decoder(x, memory, later(target.size(1)))
        output: Any = self.decoder.output_layer
        logits: Tensor = output(states)
        return logits
