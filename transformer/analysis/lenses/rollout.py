"""Attention rollout: where what a token holds has come from (Abnar & Zuidema 2020, section 3)."""

from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from transformer.analysis.lenses.lens import Lens
from transformer.analysis.lenses.mixing import mixing, why_not_mixed
from transformer.recording import Attention, Recording

_LATEST: WeakKeyDictionary[Attention, tuple[int, Tensor]] = WeakKeyDictionary()
"""The layer last asked for, and its product: a reader goes through the layers in order."""


def rollout(recording: Recording, kind: str, layer: int) -> Tensor:
    """[1, Q, K]; rows sum to 1."""
    attention = recording.attentions[kind]
    if kind == "cross":
        encoder = recording.attentions["encoder_self"]
        read = attention.weights(layer).mean(0)  # [T, S]
        rolled = read @ _product(encoder, encoder.n_layers - 1)
    else:
        rolled = _product(attention, layer)
    return (rolled * attention.allowed(layer).any(0))[None]


def _product(attention: Attention, layer: int) -> Tensor:
    """B_layer ... B_1 B_0: [T, T]. Whoever gets it changes nothing in it."""
    done, product = _LATEST.get(attention, (-1, torch.eye(len(attention.queries))))
    if done > layer:
        done, product = -1, torch.eye(len(attention.queries))
    for each in range(done + 1, layer + 1):
        product = mixing(attention, each) @ product
    _LATEST[attention] = (layer, product)
    return product


def _why_not(recording: Recording, kind: str) -> str | None:
    if kind != "cross":
        return why_not_mixed(recording, kind)
    encoder = recording.attentions.get("encoder_self")
    if encoder is None or len(encoder.queries) != len(recording.attentions[kind].keys):
        return "Rollout of cross-attention needs the encoder's attention, which is not recorded."
    return why_not_mixed(recording, "encoder_self")


LENS = Lens(
    name="rollout",
    title="Attention rollout",
    formula=r"R_l = B_l R_{l-1}, \quad B = \mathrm{rownorm}(\mathrm{mean}_h A^h + I)",
    explain=(
        "How much each input token contributes to a token after this layer, if layers only mixed "
        "tokens: half of each layer is the residual, half the mean of its heads. Values, W_O, "
        "feed-forward and normalisation are ignored. Masked cells are 0; a token that may not "
        "attend to anything keeps itself. For cross-attention (our extension): the mean of this "
        "layer's heads times the rollout of the whole encoder, without the decoder's residual and "
        "lower layers, so that columns are source tokens."
    ),
    source="Abnar & Zuidema 2020, section 3",
    scale="share",
    compute=rollout,
    per_head=False,
    why_not=_why_not,
)
