"""Token embeddings and the sum with their positions (AIAYN, sections 3.4 and 3.5)."""

import math

import torch.nn.functional as F
from torch import Tensor, nn


class TokenEmbedding(nn.Module):
    """Embeddings scaled by sqrt(d_model); the same matrix, unscaled, projects to the vocabulary."""

    def __init__(self, vocab_size: int, d_model: int) -> None:
        super().__init__()
        self.scale = math.sqrt(d_model)
        self.weight = nn.Parameter(nn.init.normal_(Tensor(vocab_size, d_model), std=1 / self.scale))

    def forward(self, ids: Tensor) -> Tensor:
        """ids: [B, T] -> [B, T, D]."""
        return F.embedding(ids, self.weight) * self.scale

    def logits(self, x: Tensor) -> Tensor:
        """x: [..., D] -> [..., V]."""
        return F.linear(x, self.weight)
