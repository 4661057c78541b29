"""Multi-head attention (AIAYN, section 3.2), its masks and its affine maps."""

import math
from functools import reduce

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer.config import ModelConfig

# Masks: which keys a query may attend to. True = may attend, as in torch's fused attention.


def padding_mask(ids: Tensor, pad_id: int) -> Tensor:
    """ids: [B, K] -> [B, 1, 1, K], False at padding (the same for every head and query)."""
    return ids.ne(pad_id)[:, None, None, :]


def subsequent_mask(n_queries: int, n_keys: int | None = None) -> Tensor:
    """Each position may see itself and what stands before it: [1, 1, Q, K].

    With more keys than queries, the queries are the last ones (AIAYN, section 3.2.3).
    """
    n_keys = n_queries if n_keys is None else n_keys
    cells = torch.ones(n_queries, n_keys, dtype=torch.bool)
    return cells.tril(n_keys - n_queries)[None, None]


def combined_mask(*masks: Tensor) -> Tensor:
    """Open where all of them are; they need only broadcast to one shape."""
    return reduce(torch.logical_and, masks)


# Affine maps, as torch's; of few rows by the product that a processor finishes sooner.

FEW = 8
"""Rows up to which a processor projects them sooner as the columns of a product: a beam's step.

A beam of 4 that writes 16 pieces with 14.7 M weights: .84 of the time of torch's own, on one core.
"""


class Linear(nn.Linear):
    """x W^T + b: nn.Linear, under the same name of its weights."""

    def forward(self, input: Tensor) -> Tensor:
        """input: [..., n_in] -> [..., n_out]."""
        return project(input, self.weight, self.bias)


def project(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x: [..., n_in]; weight: [n_out, n_in]; bias: [n_out] -> [..., n_out]."""
    rows = x.reshape(-1, x.size(-1))
    if x.device.type != "cpu" or len(rows) > FEW:
        return F.linear(x, weight, bias)
    columns = weight @ rows.t() if bias is None else torch.addmm(bias[:, None], weight, rows.t())
    # Rows again, one after the other: what reads them is sooner done.
    return columns.t().contiguous().view(*x.shape[:-1], len(weight))


# Multi-head attention (AIAYN, section 3.2), through torch's fused scaled_dot_product_attention.


class DotProductAttention(nn.Module):
    """softmax(q k^T * scale) v, in each head for itself (AIAYN, section 3.2.1).

    A module without weights, so that what watches it watches this one call and nothing else.
    """

    def __init__(self, scale: float, is_scaled_before: bool = False) -> None:
        """scale: what the scores are multiplied by; before: q and k each by its square root."""
        super().__init__()
        self.scale = scale
        self.is_scaled_before = is_scaled_before

    def forward(
        self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, is_causal: bool
    ) -> Tensor:
        """q: [B, H, Q, d_key]; k: [B, H, K, d_key]; v: [B, H, K, d_value] -> [B, H, Q, d_value]."""
        scale = self.scale
        if self.is_scaled_before:  # smaller products: what half precision asks for
            q, k, scale = q * math.sqrt(scale), k * math.sqrt(scale), 1.0
        if is_causal and mask is not None:  # torch takes one of the two
            mask = mask & subsequent_mask(q.size(-2), k.size(-2)).to(mask.device)
            is_causal = False
        return F.scaled_dot_product_attention(
            q, k, v, attn_mask=mask, is_causal=is_causal, scale=scale
        )


class MultiHeadAttention(nn.Module):
    """n_heads heads, each with its own projections, joined and projected back to d_model.

    Keys and values are made by `keys_values` and handed in, so that a decoder can keep them
    between steps: the cache needs no second code path. Without projections (`config.projections`)
    nothing here has a weight.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.n_heads = config.n_heads
        keys, values = config.n_heads * config.d_head, config.n_heads * config.d_head_value
        bias = config.attention_bias == "all"

        def projection(n_in: int, n_out: int, bias: bool) -> nn.Module:
            return Linear(n_in, n_out, bias) if config.projections else nn.Identity()

        self.query = projection(config.d_model, keys, bias)
        self.key = projection(config.d_model, keys, bias)
        self.value = projection(config.d_model, values, bias)
        self.dot_product = DotProductAttention(
            config.score_scale, config.attention_scale == "fourth_root"
        )
        self.output = projection(values, config.d_model, config.attention_bias != "none")

    def split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)  # [B, H, T, d]

    def keys_values(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """x: [B, K, D] -> keys [B, H, K, d_key] and values [B, H, K, d_value]."""
        return self.split(self.key(x)), self.split(self.value(x))

    def forward(
        self,
        x: Tensor,
        keys_values: tuple[Tensor, Tensor],
        mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """x: [B, Q, D]; mask: [B or 1, 1, 1 or Q, K], True = may attend -> [B, Q, D]."""
        k, v = keys_values
        q = self.split(self.query(x))
        heads = self.dot_product(q, k, v, mask, is_causal)
        projected: Tensor = self.output(heads.transpose(1, 2).flatten(-2))
        return projected
