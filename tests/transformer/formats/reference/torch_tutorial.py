"""Seq2SeqTransformer of PyTorch's translation tutorial, around torch.nn.Transformer."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from tests.transformer.formats.reference.parts import Stack, later, sines


class PositionalEncoding(nn.Module):
    pos_embedding: Tensor

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.register_buffer("pos_embedding", sines(5000, d_model).unsqueeze(-2))

    def forward(self, x: Tensor) -> Tensor:
        """x: [T, B, D]: the tutorial's batch comes second."""
        return x + self.pos_embedding[: x.size(0)]


class Seq2SeqTransformer(nn.Module):
    def __init__(
        self,
        d_model: int,
        nhead: int,
        sources: int,
        targets: int,
        d_ff: int,
        layers: tuple[int, int],
    ) -> None:
        super().__init__()
        self.d_model = d_model
        self.transformer = nn.Transformer(d_model, nhead, *layers, d_ff, 0.1)
        self.generator = nn.Linear(d_model, targets)
        self.src_tok_emb: Any = Stack(embedding=nn.Embedding(sources, d_model))
        self.tgt_tok_emb: Any = Stack(embedding=nn.Embedding(targets, d_model))
        self.positional_encoding = PositionalEncoding(d_model)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """source: [B, S]; target: [B, T] -> [B, T, V]."""
        scale = math.sqrt(self.d_model)
        read = self.positional_encoding(self.src_tok_emb.embedding(source.T) * scale)
        written = self.positional_encoding(self.tgt_tok_emb.embedding(target.T) * scale)
        hidden = self.transformer(read, written, tgt_mask=later(target.size(1)))
        logits: Tensor = self.generator(hidden)
        return logits.transpose(0, 1)

    def first_weights(self, source: Tensor) -> Tensor:
        """The first encoder layer's weights [B, H, S, S], by torch's own module."""
        x = self.positional_encoding(self.src_tok_emb.embedding(source.T) * math.sqrt(self.d_model))
        attention: Any = self.transformer.encoder.layers[0].self_attn
        with torch.no_grad():
            weights: Tensor = attention(x, x, x, average_attn_weights=False)[1]
        return weights
