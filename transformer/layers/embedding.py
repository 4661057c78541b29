"""Token embeddings (AIAYN, section 3.4)."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer.layers.linear import project


def normal(shape: tuple[int, int], std: float) -> Tensor:
    """Draw a table around 0, where numbers are kept at all.

    On the meta device torch would import its compiler to do nothing: 2 s of every start.
    """
    table = torch.empty(shape)
    return table if table.is_meta else nn.init.normal_(table, std=std)


class TokenEmbedding(nn.Module):
    """Embeddings, scaled by sqrt(d_model); the same matrix, unscaled, can project to the pieces."""

    def __init__(self, vocab_size: int, d_model: int, is_scaled: bool = True) -> None:
        super().__init__()
        self.scale = math.sqrt(d_model) if is_scaled else 1.0
        # Unscaled ones start as small as GPT-2's: large ones learn slowly, being mostly noise.
        std = 1 / math.sqrt(d_model) if is_scaled else 0.02
        self.weight = nn.Parameter(normal((vocab_size, d_model), std))

    def forward(self, ids: Tensor) -> Tensor:
        """ids: [B, T] -> [B, T, D]."""
        return F.embedding(ids, self.weight) * self.scale

    def logits(self, x: Tensor) -> Tensor:
        """x: [..., D] -> [..., V]."""
        return project(x, self.weight)
