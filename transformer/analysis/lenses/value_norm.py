"""The norm of the weighted value: how much a head really adds (Kobayashi et al. 2020)."""

import torch
from torch import Tensor

from transformer.analysis.lenses.head_values import head_values, why_no_values
from transformer.analysis.lenses.lens import Lens
from transformer.recording import Recording


def value_norm(recording: Recording, kind: str, layer: int) -> Tensor:
    """||A_ij v_j W_O|| of each head: [H, Q, K]. A weight is never below 0: A_ij ||v_j W_O||."""
    attention = recording.attentions[kind]
    call = attention.calls[layer]
    heads = range(attention.n_heads)
    norms = torch.stack([head_values(call, head).norm(dim=-1) for head in heads])  # [H, K]
    return attention.weights(layer) * norms[:, None]


LENS = Lens(
    name="value_norm",
    title="Value-weighted norm",
    formula=r"N_{ij} = \Vert A_{ij} \, v_j W_O \Vert",
    explain=(
        "The length of the vector that a key adds to its query through this head: a large weight "
        "on a small value adds little. The bias of v is included; that of W_O, which belongs to no "
        "key, residual and normalisation are ignored. Masked cells add 0."
    ),
    source="Kobayashi et al. 2020, section 3",
    scale="size",
    compute=value_norm,
    why_not=why_no_values,
)
