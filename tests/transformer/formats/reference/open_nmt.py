"""OpenNMT-py 3: its Transformer by its names and formulas."""

from typing import Any

import torch
from torch import Tensor, nn

from tests.transformer.formats.reference.parts import Stack, attend, later, sines


class MultiHeadedAttention(nn.Module):
    def __init__(self, heads: int, d_model: int, add_qkvbias: bool) -> None:
        super().__init__()
        self.heads = heads
        for name in ("linear_keys", "linear_values", "linear_query", "final_linear"):
            self.add_module(name, nn.Linear(d_model, d_model, bias=add_qkvbias))
        self.attn = torch.empty(0)

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None) -> Tensor:
        parts: Any = self
        q, k, v = parts.linear_query(x), parts.linear_keys(memory), parts.linear_values(memory)
        joined, self.attn = attend(q, k, v, self.heads, mask)
        output: Tensor = parts.final_linear(joined)
        return output


def layer_norm(d_model: int) -> nn.LayerNorm:
    return nn.LayerNorm(d_model, eps=1e-6)


class PositionwiseFeedForward(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w_1, self.w_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.layer_norm = layer_norm(d_model)

    def forward(self, x: Tensor) -> Tensor:
        fed: Tensor = self.w_2(self.w_1(self.layer_norm(x)).relu())
        return fed + x


class PositionalEncoding(nn.Module):
    pe: Tensor

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.register_buffer("pe", sines(5000, d_model).unsqueeze(1))


def embeddings(vocab: int, d_model: int, has_positions: bool) -> Any:
    luts = nn.ModuleList([nn.Embedding(vocab, d_model, padding_idx=1)])
    positions = {"pe": PositionalEncoding(d_model)} if has_positions else {}
    return Stack(make_embedding=Stack(emb_luts=luts, **positions))


def embedded(module: Any, ids: Tensor) -> Tensor:
    """Only its PositionalEncoding scales what is embedded."""
    made = module.make_embedding
    words: Tensor = made.emb_luts[0](ids)
    if not hasattr(made, "pe"):
        return words
    return words * made.pe.pe.size(-1) ** 0.5 + made.pe.pe[: ids.size(1), 0]


class NMTModel(nn.Module):
    """The generator is a module of its own: it is saved apart."""

    def __init__(
        self,
        d: int,
        heads: int,
        d_ff: int,
        vocabs: tuple[int, int],
        layers: int,
        bias: bool,
        has_positions: bool = True,
    ) -> None:
        super().__init__()
        encoder = (
            Stack(
                self_attn=MultiHeadedAttention(heads, d, bias),
                layer_norm=layer_norm(d),
                feed_forward=PositionwiseFeedForward(d, d_ff),
            )
            for _ in range(layers)
        )
        decoder = (
            Stack(
                self_attn=MultiHeadedAttention(heads, d, bias),
                context_attn=MultiHeadedAttention(heads, d, bias),
                layer_norm_1=layer_norm(d),
                layer_norm_2=layer_norm(d),
                feed_forward=PositionwiseFeedForward(d, d_ff),
            )
            for _ in range(layers)
        )
        self.encoder: Any = Stack(
            embeddings=embeddings(vocabs[0], d, has_positions),
            transformer=nn.ModuleList(encoder),
            layer_norm=layer_norm(d),
        )
        self.decoder: Any = Stack(
            embeddings=embeddings(vocabs[1], d, has_positions),
            transformer_layers=nn.ModuleList(decoder),
            layer_norm=layer_norm(d),
        )

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """source: [B, S]; target: [B, T] -> what the generator reads [B, T, D]."""
        x = embedded(self.encoder.embeddings, source)
        for layer in self.encoder.transformer:
            normed = layer.layer_norm(x)
            x = layer.feed_forward(layer.self_attn(normed, normed, None) + x)
        memory = self.encoder.layer_norm(x)
        x, mask = embedded(self.decoder.embeddings, target), later(target.size(1))
        for layer in self.decoder.transformer_layers:
            normed = layer.layer_norm_1(x)
            x = layer.self_attn(normed, normed, mask) + x
            x = layer.feed_forward(layer.context_attn(layer.layer_norm_2(x), memory, None) + x)
        hidden: Tensor = self.decoder.layer_norm(x)
        return hidden
