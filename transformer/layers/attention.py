"""Multi-head attention (AIAYN, section 3.2), through torch's fused scaled_dot_product_attention."""

import torch.nn.functional as F
from torch import Tensor, nn


class DotProductAttention(nn.Module):
    """softmax(q k^T / sqrt(d_head)) v, in each head for itself (AIAYN, section 3.2.1).

    A module without weights, so that what watches it watches this one call and nothing else.
    """

    def forward(
        self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, is_causal: bool
    ) -> Tensor:
        """q: [B, H, Q, d_head]; k, v: [B, H, K, d_head] -> [B, H, Q, d_head]."""
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=is_causal)


class MultiHeadAttention(nn.Module):
    """n_heads heads of d_model / n_heads each, projected back to d_model.

    Keys and values are made by `keys_values` and handed in, so that a decoder can keep them
    between steps: the cache needs no second code path.
    """

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.dot_product = DotProductAttention()
        self.output = nn.Linear(d_model, d_model)

    def split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)  # [B, H, T, d_head]

    def keys_values(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """x: [B, K, D] -> keys and values, each [B, H, K, d_head]."""
        return self.split(self.key(x)), self.split(self.value(x))

    def forward(
        self,
        x: Tensor,
        keys_values: tuple[Tensor, Tensor],
        mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """x: [B, Q, D]; mask: [B, 1, 1 or Q, K], True = may attend -> [B, Q, D]."""
        k, v = keys_values
        q = self.split(self.query(x))
        heads = self.dot_product(q, k, v, mask, is_causal)
        return self.output(heads.transpose(1, 2).flatten(-2))
