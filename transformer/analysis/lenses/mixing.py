"""A layer of self-attention as a mixture of its tokens: mean weights and residual, half each."""

import torch
from torch import Tensor

from transformer.recording import Attention, Recording


def mixing(attention: Attention, layer: int) -> Tensor:
    """rownorm(mean_h A + I): [T, T] in float32; every row sums to 1.

    A token that may attend to nothing keeps itself whole: the residual goes on without attention.
    """
    shares = attention.weights(layer).mean(0)
    residual = shares + torch.eye(len(shares))
    return residual / residual.sum(-1, keepdim=True)


def why_not_mixed(recording: Recording, kind: str) -> str | None:
    """The `why_not` of lenses that multiply layers: each must map a sequence to itself."""
    attention = recording.attentions[kind]
    if len(attention.queries) == len(attention.keys):
        return None
    return (
        "Rollout and flow need self-attention over one sequence; here "
        f"{len(attention.queries)} queries attend to {len(attention.keys)} keys."
    )
