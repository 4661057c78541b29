"""torch's flex attention: a function of the model's own makes its scores, before the softmax.

It is an operator that is made of Python. Inside, that function is mapped over the cells by `vmap`,
after which nothing tells what became of the product: so weights are computed once more, by what
torch itself calls where nothing is compiled.
"""

from typing import Any

import torch
from torch import Tensor

FLEX = getattr(torch.ops.higher_order, "flex_attention", None)
"""None: a version of torch without it."""


def flex_weights(
    q: Tensor, k: Tensor, v: Tensor, score_mod: Any, block_mask: Any, *options: Any
) -> tuple[Tensor, Tensor, Tensor]:
    """Scores and weights [B, H, Q, K] and values [B, H, K, d_value] of one call of it."""
    from torch._higher_order_ops.flex_attention import _math_attention_inner

    per_key = q.size(1) // k.size(1)  # query heads for one of the keys
    k, v = (each.repeat_interleave(per_key, 1) for each in (k, v))
    _, scores = _math_attention_inner(q, k, v, score_mod, block_mask, *options)
    weights = scores.softmax(-1).masked_fill((scores == -torch.inf).all(-1, keepdim=True), 0)
    return scores, weights.to(q.dtype), v
