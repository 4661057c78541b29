"""The Transformer of bentrevett/pytorch-seq2seq's tutorial 6 by its names and formulas."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from tests.transformer.formats.reference.parts import Attention, Stack, later

_NAMES = "fc_q fc_k fc_v fc_o"


class Layer(nn.Module):
    """Of the encoder, or with encoder_attention of the decoder."""

    def __init__(self, hid_dim: int, n_heads: int, pf_dim: int, is_decoder: bool) -> None:
        super().__init__()
        self.self_attn_layer_norm, self.ff_layer_norm = nn.LayerNorm(hid_dim), nn.LayerNorm(hid_dim)
        self.self_attention = Attention(_NAMES, hid_dim, n_heads)
        if is_decoder:
            self.enc_attn_layer_norm = nn.LayerNorm(hid_dim)
            self.encoder_attention = Attention(_NAMES, hid_dim, n_heads)
        fed = {"fc_1": nn.Linear(hid_dim, pf_dim), "fc_2": nn.Linear(pf_dim, hid_dim)}
        self.positionwise_feedforward: Any = Stack(**fed)

    def forward(self, x: Tensor, memory: Tensor | None, mask: Tensor | None) -> Tensor:
        x = self.self_attn_layer_norm(x + self.self_attention(x, x, mask))
        if memory is not None:
            x = self.enc_attn_layer_norm(x + self.encoder_attention(x, memory))
        fed = self.positionwise_feedforward.fc_2(self.positionwise_feedforward.fc_1(x).relu())
        normed: Tensor = self.ff_layer_norm(x + fed)
        return normed


class Coder(nn.Module):
    def __init__(
        self, dim: int, hid_dim: int, n: int, n_heads: int, pf_dim: int, max_length: int
    ) -> None:
        """max_length: 100 unless told otherwise."""
        super().__init__()
        self.tok_embedding = nn.Embedding(dim, hid_dim)
        self.pos_embedding = nn.Embedding(max_length, hid_dim)
        self.layers = nn.ModuleList(
            Layer(hid_dim, n_heads, pf_dim, isinstance(self, Decoder)) for _ in range(n)
        )

    def forward(self, ids: Tensor, memory: Tensor | None, mask: Tensor | None) -> Tensor:
        x: Tensor = self.tok_embedding(ids)
        x = x * math.sqrt(x.size(-1)) + self.pos_embedding(torch.arange(ids.size(1)))
        for layer in self.layers:
            x = layer(x, memory, mask)
        return x


class Decoder(Coder):
    def __init__(
        self, dim: int, hid_dim: int, n: int, n_heads: int, pf_dim: int, max_length: int
    ) -> None:
        super().__init__(dim, hid_dim, n, n_heads, pf_dim, max_length)
        self.fc_out = nn.Linear(hid_dim, dim)


class Seq2Seq(nn.Module):
    def __init__(self, encoder: Coder, decoder: Decoder) -> None:
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        memory = self.encoder(source, None, None)
        logits: Tensor = self.decoder.fc_out(self.decoder(target, memory, later(target.size(1))))
        return logits
