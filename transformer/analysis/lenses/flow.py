"""Attention flow: how much could pass between two tokens (Abnar & Zuidema 2020, section 3)."""

from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from transformer.analysis.lenses.lens import Lens
from transformer.analysis.lenses.max_flow import largest_flows
from transformer.analysis.lenses.mixing import mixing, why_not_mixed
from transformer.recording import Attention, Recording

MOST_TOKENS = 24
"""A flow for every pair of tokens: seconds at this length through 12 layers, and the work grows
with its fourth power."""

_FLOWS: WeakKeyDictionary[Attention, dict[int, Tensor]] = WeakKeyDictionary()
"""The flows of attentions that are still in use: small, and slow to make again."""


def flow(recording: Recording, kind: str, layer: int) -> Tensor:
    """[1, T, T]; rows sum to 1."""
    attention = recording.attentions[kind]
    cache = _FLOWS.setdefault(attention, {})
    if layer not in cache:
        flows = raw_flow(attention, layer) * attention.allowed(layer).any(0)
        sums = flows.sum(-1, keepdim=True)
        cache[layer] = torch.where(sums > 0, flows / sums, flows).float()
    return cache[layer][None].clone()


def raw_flow(attention: Attention, layer: int) -> Tensor:
    """The largest flow from each token after the layer to each input token: [T, T], float64."""
    capacities = torch.stack([mixing(attention, each) for each in range(layer + 1)]).double()
    return torch.stack([largest_flows(capacities, start) for start in range(len(capacities[0]))])


def _why_not(recording: Recording, kind: str) -> str | None:
    if recording.attentions[kind].is_cross:
        return "Attention flow is only defined for self-attention: choose encoder or decoder."
    n_tokens = len(recording.attentions[kind].queries)
    if n_tokens > MOST_TOKENS:
        return (
            f"Attention flow is computed for up to {MOST_TOKENS} tokens; this text has {n_tokens}: "
            "shorten the text, or choose rollout."
        )
    return why_not_mixed(recording, kind)


LENS = Lens(
    name="flow",
    title="Attention flow",
    formula=(
        r"F = \mathrm{rownorm}(\text{largest flow}), \quad "
        r"\text{capacity } B = \mathrm{rownorm}(\mathrm{mean}_h A^h + I)"
    ),
    explain=(
        "How much could pass from each input token to a token after this layer if weights were "
        "pipes, half of each layer's capacity being the residual. It is the largest flow through "
        "all layers, for each pair by itself; then each row is divided by its sum. Values, W_O, "
        "feed-forward and normalisation play no part. Masked cells are 0; a token that may attend "
        f"to nothing keeps itself. Up to {MOST_TOKENS} tokens."
    ),
    source="Abnar & Zuidema 2020, section 3",
    scale="share",
    compute=flow,
    per_head=False,
    why_not=_why_not,
)
