"""Edits of whole heads, and of states between layers."""

import math

import torch
from torch import Tensor

from transformer.edits.edit import Edit, EditKind, Value

# A head switched off: it adds nothing.


def off(edit: Edit, z: Tensor, reference: Tensor | None) -> Tensor:
    """0 in the place of z [Q, d_value]."""
    return torch.zeros_like(z)


HEAD_OFF_EDIT = EditKind(
    name="head-off",
    title="Head off",
    of="head",
    explain=(
        "What the head gives is set to 0 before the output projection mixes it with the others: "
        "the layer gives what its other heads and its bias do. This is head ablation."
    ),
    formula=r"z^h = 0",
    source="Michel et al. 2019",
    heads=off,
)


# A head made stronger or weaker.


def scaled(edit: Edit, z: Tensor, reference: Tensor | None) -> Tensor:
    """g z [Q, d_value]."""
    return z * edit.values[0]


HEAD_SCALE_EDIT = EditKind(
    name="head-scale",
    title="Scale a head",
    of="head",
    explain="What the head gives is multiplied by a factor before the output projection.",
    formula=r"z^h = g A^h v^h",
    source="Michel et al. 2019, whose gates are 0 or 1",
    values=(Value("Factor", 0.5, -1000, 1000, slider=2),),
    zero="head-off",
    heads=scaled,
)


# A head that says the same for every word.


def mean(edit: Edit, z: Tensor, reference: Tensor | None) -> Tensor:
    """The mean of the reference [R, d_value] in each row of z [Q, d_value]."""
    assert reference is not None
    return reference.mean(0).expand(z.shape)


HEAD_MEAN_EDIT = EditKind(
    name="head-mean",
    title="Mean of a head",
    of="head",
    explain=(
        "For every word the head gives its mean over the words of a run that nothing changes, of "
        "this sentence or of one that is written here; a target is what greedy decoding writes. "
        "This is mean ablation."
    ),
    formula=r"z^h_i = \frac{1}{n} \sum_j z^h_j",
    source="Wang et al. 2022, section 2.2",
    text="optional",
    heads=mean,
)


# A head that looks at all words alike.


def uniform(edit: Edit, scores: Tensor, first: int) -> Tensor:
    """0 for every key of [Q, K]; those that a mask closes stay closed."""
    return scores.new_zeros(scores.shape)


HEAD_UNIFORM_EDIT = EditKind(
    name="head-uniform",
    title="Look at all alike",
    of="head",
    explain=(
        "Every query gives the same weight to each key that its mask allows, and nothing to later "
        "words where the model sees none."
    ),
    formula=r"A_{ij} = \frac{1}{n_i}",
    scores=uniform,
)


# A head that looks at the word before.


def previous(edit: Edit, scores: Tensor, first: int) -> Tensor:
    """One key of each row of [Q, K], that before the query; a row without one stays as it is."""
    queries = torch.arange(len(scores), device=scores.device) + first
    before = torch.arange(scores.size(1), device=scores.device) == queries[:, None] - 1
    before &= scores.isfinite()
    only = torch.where(before, 0.0, -torch.inf)
    return torch.where(before.any(-1, keepdim=True), only, scores)


HEAD_PREVIOUS_EDIT = EditKind(
    name="head-previous",
    title="Look at the word before",
    of="head",
    explain=(
        "Every query gives all its weight to the key before it; where there is none, as in the "
        "first row, or a mask closes it, the row stays as it is."
    ),
    formula=r"A_{ij} = 1 \quad (j = i - 1)",
    same_sequence=True,
    scores=previous,
)


# A head that attends to another sentence.


def other_head_from(edit: Edit, z: Tensor, reference: Tensor | None) -> Tensor:
    """The reference's rows [R, d_value] in those of z [Q, d_value] that it has."""
    assert reference is not None
    patched = z.clone()
    patched[: len(reference)] = reference.to(z.dtype)
    return patched


HEAD_FROM_EDIT = EditKind(
    name="head-from",
    title="Head from another sentence",
    of="head",
    explain=(
        "The head gives, word by word, what it gives in another sentence of as many words; in a "
        "translator's decoder, where greedy decoding writes that sentence's translation."
    ),
    formula=r"z^h = z'^h",
    source="Wang et al. 2022; Zhang and Nanda 2023",
    text="needed",
    same_length=True,
    heads=other_head_from,
)


# Words emphasised for a head: it looks less at all others.


def emphasised(edit: Edit, scores: Tensor, first: int) -> Tensor:
    """log alpha is added to the scores [Q, K] of all keys but those that are named."""
    alpha, *keys = edit.values
    others = torch.full((scores.size(1),), math.log(alpha), device=scores.device)
    others[[int(key) for key in keys if key < len(others)]] = 0.0  # some may not be written yet
    return scores + others


EMPHASISE_EDIT = EditKind(
    name="emphasise",
    title="Emphasise words",
    of="head",
    explain="In every row of the head, all keys but the words that are named get less weight.",
    formula=r"s_{ij} = q_i \cdot k_j + \log \alpha \quad (j \text{ not in } G)",
    source="PASTA: Zhang et al. 2023",
    values=(Value("Factor of the others", 0.01, 1e-6, 1.0),),
    further=Value("Word", 0, 0, 10**6, is_whole=True, is_token=True),
    scores=emphasised,
)


# The state of a word at a layer, from another sentence.


def other_state_from(edit: Edit, state: Tensor, reference: Tensor) -> Tensor:
    """The reference [D] in the place of what the layer gives for the word [D]."""
    return reference


STATE_FROM_EDIT = EditKind(
    name="state-from",
    title="State from another sentence",
    of="word",
    explain=(
        "What a layer gives for one word is what it gives at this place in another sentence of as "
        "many words: activation patching of the residual stream."
    ),
    formula=r"x^l_i = x'^l_i",
    source="Meng et al. 2022, section 2; Zhang and Nanda 2023",
    text="needed",
    same_length=True,
    states=other_state_from,
)


EDIT = (
    HEAD_OFF_EDIT,
    HEAD_SCALE_EDIT,
    HEAD_MEAN_EDIT,
    HEAD_UNIFORM_EDIT,
    HEAD_PREVIOUS_EDIT,
    HEAD_FROM_EDIT,
    EMPHASISE_EDIT,
    STATE_FROM_EDIT,
)
