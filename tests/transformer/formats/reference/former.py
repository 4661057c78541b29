"""pbloem/former: GTransformer and CTransformer by their names and formulas."""

import torch
from torch import Tensor, nn

from tests.transformer.formats.reference.parts import attend, later


class SelfAttention(nn.Module):
    def __init__(
        self, emb: int, heads: int, is_masked: bool, is_wide: bool, is_old: bool = False
    ) -> None:
        super().__init__()
        self.heads, self.is_masked = heads, is_masked
        self.scaled_by = emb if is_old or is_wide else emb // heads
        inner = emb * heads if is_wide else emb
        self.tokeys = nn.Linear(emb, inner, bias=False)
        self.toqueries = nn.Linear(emb, inner, bias=False)
        self.tovalues = nn.Linear(emb, inner, bias=False)
        self.unifyheads = nn.Linear(inner, emb)
        self.attn = torch.empty(0)

    def forward(self, x: Tensor) -> Tensor:
        mask = later(x.size(1)) if self.is_masked else None
        q, k, v = self.toqueries(x), self.tokeys(x), self.tovalues(x)
        joined, self.attn = attend(q, k, v, self.heads, mask, scale=self.scaled_by**-0.5)
        unified: Tensor = self.unifyheads(joined)
        return unified


class TransformerBlock(nn.Module):
    def __init__(self, emb: int, heads: int, is_masked: bool, is_wide: bool, is_old: bool) -> None:
        super().__init__()
        self.attention = SelfAttention(emb, heads, is_masked, is_wide, is_old)
        self.norm1, self.norm2 = nn.LayerNorm(emb), nn.LayerNorm(emb)
        self.ff = nn.Sequential(nn.Linear(emb, 4 * emb), nn.ReLU(), nn.Linear(4 * emb, emb))

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm1(self.attention(x) + x)
        normed: Tensor = self.norm2(self.ff(x) + x)
        return normed


class Former(nn.Module):
    """With n_classes it is CTransformer, without GTransformer."""

    def __init__(
        self,
        emb: int,
        heads: int,
        depth: int,
        n_tokens: int,
        n_classes: int = 0,
        wide: bool = False,
        old: bool = False,
        concatenated: bool = False,
    ) -> None:
        """old: from before May 2024, when the scale was that of the whole embedding."""
        super().__init__()
        if concatenated:
            self.unify_embeddings = nn.Linear(2 * emb, emb)
        self.concatenated = concatenated
        self.n_classes = n_classes
        self.token_embedding = nn.Embedding(n_tokens, emb)
        self.pos_embedding = nn.Embedding(12, emb)
        blocks = (TransformerBlock(emb, heads, not n_classes, wide, old) for _ in range(depth))
        self.tblocks = nn.Sequential(*blocks)
        self.toprobs = nn.Linear(emb, n_classes or n_tokens)

    def forward(self, ids: Tensor) -> Tensor:
        """ids: [B, T] -> log probabilities [B, T, V], or [B, C]."""
        x, places = self.token_embedding(ids), self.pos_embedding(torch.arange(ids.size(1)))
        if self.concatenated:
            x = self.unify_embeddings(torch.cat([x, places.expand_as(x)], dim=-1))
        else:
            x = x + places
        x = self.tblocks(x)
        if self.n_classes:
            x = x.max(dim=1)[0]
        scores: Tensor = self.toprobs(x)
        return scores.log_softmax(-1)
