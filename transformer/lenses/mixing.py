"""How a layer of self-attention mixes its tokens: its mean weights and its residual, half each."""

import torch
from torch import Tensor

from transformer.recording import Attention


def mixing(attention: Attention, layer: int) -> Tensor:
    """rownorm(mean_h A + I): [T, T] in float32; every row sums to 1.

    A token that may attend to nothing keeps itself whole: the residual goes on without attention.
    """
    shares = attention.weights(layer).mean(0)
    kept = shares + torch.eye(len(shares))
    return kept / kept.sum(-1, keepdim=True)
