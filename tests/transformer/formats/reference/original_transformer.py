"""gordicaleksa/pytorch-original-transformer's modules by their names and formulas."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from tests.transformer.formats.reference.parts import Stack, attend, later, sines


class MultiHeadedAttention(nn.Module):
    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.qkv_nets = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(3))
        self.out_projection_net = nn.Linear(d_model, d_model)
        self.attn = torch.empty(0)

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        given = zip(self.qkv_nets, (x, memory, memory), strict=True)
        q, k, v = (net(y) for net, y in given)
        joined, self.attn = attend(q, k, v, self.n_heads, mask)
        output: Tensor = self.out_projection_net(joined)
        return output


class Layer(nn.Module):
    """Of the encoder, or of the decoder."""

    def __init__(self, d_model: int, n_heads: int, is_decoder: bool) -> None:
        super().__init__()
        self.is_decoder = is_decoder
        n = 3 if is_decoder else 2
        self.sublayers: Any = nn.ModuleList(Stack(norm=nn.LayerNorm(d_model)) for _ in range(n))
        if is_decoder:
            self.trg_multi_headed_attention = MultiHeadedAttention(d_model, n_heads)
            self.src_multi_headed_attention = MultiHeadedAttention(d_model, n_heads)
        else:
            self.multi_headed_attention = MultiHeadedAttention(d_model, n_heads)
        wide = 4 * d_model
        nets = {"linear1": nn.Linear(d_model, wide), "linear2": nn.Linear(wide, d_model)}
        self.pointwise_net: Any = Stack(**nets)

    def forward(self, x: Tensor, memory: Tensor | None, mask: Tensor | None) -> Tensor:
        normed = self.sublayers[0].norm(x)
        if memory is None:
            x = x + self.multi_headed_attention(normed, normed)
        else:
            x = x + self.trg_multi_headed_attention(normed, normed, mask)
            x = x + self.src_multi_headed_attention(self.sublayers[1].norm(x), memory)
        fed = self.pointwise_net.linear1(self.sublayers[-1].norm(x)).relu()
        return x + self.pointwise_net.linear2(fed)


class Transformer(nn.Module):
    def __init__(self, d_model: int, n_heads: int, sources: int, targets: int, n: int) -> None:
        super().__init__()
        self.d_model = d_model
        self.src_embedding: Any = Stack(embeddings_table=nn.Embedding(sources, d_model))
        self.trg_embedding: Any = Stack(embeddings_table=nn.Embedding(targets, d_model))
        self.src_pos_embedding, self.trg_pos_embedding = nn.Module(), nn.Module()
        for module in (self.src_pos_embedding, self.trg_pos_embedding):
            module.register_buffer("positional_encodings_table", sines(5000, d_model))
        for side in ("encoder", "decoder"):
            layers = [Layer(d_model, n_heads, side == "decoder") for _ in range(n)]
            parts = {f"{side}_layers": nn.ModuleList(layers), "norm": nn.LayerNorm(d_model)}
            self.add_module(side, Stack(**parts))
        self.decoder_generator: Any = Stack(linear=nn.Linear(d_model, targets))

    def embedded(self, embedding: Any, positions: Any, ids: Tensor) -> Tensor:
        x: Tensor = embedding.embeddings_table(ids) * math.sqrt(self.d_model)
        return x + positions.positional_encodings_table[: ids.size(1)]

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """-> log probabilities [B, T, V]."""
        encoder: Any = self.encoder
        decoder: Any = self.decoder
        x = self.embedded(self.src_embedding, self.src_pos_embedding, source)
        for layer in encoder.encoder_layers:
            x = layer(x, None, None)
        memory = encoder.norm(x)
        x = self.embedded(self.trg_embedding, self.trg_pos_embedding, target)
        for layer in decoder.decoder_layers:
            x = layer(x, memory, later(target.size(1)))
        logits: Tensor = self.decoder_generator.linear(decoder.norm(x))
        return logits.log_softmax(-1)
