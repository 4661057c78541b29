"""A deeper encoder from a trained one: what is new begins as layers that change next to nothing.

They stand behind the first layer. Their queries, keys, values and inner weights are those of the
old layers in turn, so that they have something to look at; the outputs of both of their parts are
zero, so that they add nothing yet. What is left of a layer is its norms. After one of gain g and
bias b a position's values have about the mean of b, and about the mean of g squared and the
variance of b as their variance: with these as gain and bias, a norm leaves them nearly as they are.
Behind later layers it would not: there some positions, above all the end of the source, have a far
smaller variance than others (.06 of .17), and that they are small is what the decoder goes by.
"""

import re
from collections.abc import Mapping

import torch
from torch import Tensor

_LAYER = re.compile(r"encoder\.layers\.(\d+)\.(.+)")


def deepened(weights: Mapping[str, Tensor], n_layers: int) -> dict[str, Tensor]:
    """The weights of a post-norm encoder with n_layers; as they are if it has as many or more."""
    parts = [match for name in weights if (match := _LAYER.fullmatch(name))]
    n_old = len({match[1] for match in parts})
    n_new = max(0, n_layers - n_old) if n_old else 0
    result = {name: value for name, value in weights.items() if not _LAYER.fullmatch(name)}
    for match in parts:
        layer = int(match[1])
        at = layer + n_new if layer else 0
        result[f"encoder.layers.{at}.{match[2]}"] = weights[match[0]]
    for new in range(n_new):
        layer = new % n_old
        for part in {match[2] for match in parts}:
            begun = _begun(weights, f"encoder.layers.{layer}.{part}")
            result[f"encoder.layers.{1 + new}.{part}"] = begun
    return result


def _begun(weights: Mapping[str, Tensor], name: str) -> Tensor:
    """A weight of a new layer, from that of an old one."""
    value = weights[name].float()
    if re.search(r"self_attention\.output|feed_forward\.outer", name):
        return torch.zeros_like(value)
    if ".norm." not in name:
        return value.clone()
    last = "encoder.layers.0.feed_residual.norm"
    gain, bias = weights[f"{last}.weight"].float(), weights[f"{last}.bias"].float()
    if name.endswith("bias"):
        return torch.full_like(value, float(bias.mean()))
    return torch.full_like(value, float((gain.square().mean() + bias.var(correction=0)).sqrt()))
