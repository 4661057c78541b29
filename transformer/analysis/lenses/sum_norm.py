"""The norm of what all heads of a layer add together (Kobayashi et al. 2020)."""

import torch
from torch import Tensor

from transformer.analysis.lenses.head_values import head_values, why_no_values
from transformer.analysis.lenses.lens import Lens
from transformer.recording import AttentionCall, Recording

_KEYS_AT_ONCE = 64


def sum_norm(recording: Recording, kind: str, layer: int) -> Tensor:
    """||sum_h A_ij v_j W_O||: [1, Q, K].

    Squared, it is a_ij G_j a_ij, with a_ij the H weights of a cell and G_j the products of what
    the heads would add of key j: so [H, Q, K, D] is never built. In float64, since heads may
    nearly cancel, and only the difference of large squares would be left.
    """
    attention = recording.attentions[kind]
    weights = attention.weights(layer)
    norms = torch.empty(1, *weights.shape[1:])
    for keys in torch.arange(weights.size(-1)).split(_KEYS_AT_ONCE):
        products = _products(attention.calls[layer], slice(int(keys[0]), int(keys[-1]) + 1))
        shares = weights[:, :, keys].permute(2, 1, 0).double()  # [k, Q, H]
        squares = ((shares @ products) * shares).sum(-1)  # [k, Q]
        norms[0, :, keys] = squares.clamp_min(0).sqrt().mT.float()
    return norms


def _products(call: AttentionCall, keys: slice) -> Tensor:
    """Every head's v_j W_O times every other's, for some keys: [k, H, H] in float64."""
    n_heads = call.n_heads
    if call.output is None:  # each head writes where no other does
        values = call.heads(slice(None)).v[:, keys]
        squares = values.double().cpu().square().sum(-1)  # [H, k]
        return squares.mT.diag_embed()
    added = torch.stack([head_values(call, head, keys) for head in range(n_heads)], 1).double()
    return added @ added.mT  # [k, H, D] -> [k, H, H]


LENS = Lens(
    name="sum_norm",
    title="Norm of the sum over heads",
    formula=r"N_{ij} = \Vert \sum_h A^h_{ij} \, v^h_j W_O \Vert",
    explain=(
        "The length of the vector that a key adds to its query through all heads of the layer: "
        "heads that add opposite vectors cancel. The bias of W_O, residual and normalisation are "
        "ignored; masked cells add 0."
    ),
    source="Kobayashi et al. 2020, section 3",
    scale="size",
    compute=sum_norm,
    per_head=False,
    why_not=why_no_values,
)
