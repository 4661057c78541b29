"""How a layer of self-attention mixes its tokens: its mean weights and its residual, half each."""

import torch
from torch import Tensor

from transformer.recording import Attention, Recording


def mixing(attention: Attention, layer: int) -> Tensor:
    """rownorm(mean_h A + I): [T, T] in float32; every row sums to 1.

    A token that may attend to nothing keeps itself whole: the residual goes on without attention.
    """
    shares = attention.weights(layer).mean(0)
    kept = shares + torch.eye(len(shares))
    return kept / kept.sum(-1, keepdim=True)


def why_not_mixed(recording: Recording, kind: str) -> str | None:
    """The `why_not` of what multiplies layers: each must lead from the tokens to the same ones."""
    attention = recording.attentions[kind]
    if len(attention.queries) == len(attention.keys):
        return None
    return (
        f"Here {len(attention.queries)} queries read {len(attention.keys)} keys, and what passes "
        "through several layers is defined for one sequence that reads itself."
    )
