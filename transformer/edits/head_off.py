"""A head switched off: it adds nothing."""

import torch
from torch import Tensor

from transformer.edits.edit import Edit, EditKind


def off(edit: Edit, z: Tensor, reference: Tensor | None) -> Tensor:
    """0 in the place of z [Q, d_value]."""
    return torch.zeros_like(z)


EDIT = EditKind(
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
