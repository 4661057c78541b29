"""Rotary positions that turn faster or slower."""

import torch
from torch import Tensor

from transformer.edits.edit import Edit, EditKind, Value


def frequencies(edit: Edit, steps: Tensor) -> Tensor:
    """base ** (-i / n), radians per position of pair i, for the n pairs of steps [n]."""
    n = len(steps)
    return edit.values[0] ** (-torch.arange(n, device=steps.device) / n).to(steps)


EDIT = EditKind(
    name="rotary-base",
    title="Rotary base",
    of="side",
    explain=(
        "Queries and keys turn by the frequencies of another base: a larger one makes far words "
        "look nearer. Scalings of a longer context are left out."
    ),
    formula=r"f_i = b^{-i / n}",
    source="Su et al. 2021, section 3.3",
    values=(Value("Base", 10000, 1.0001, 1e9),),
    frequencies=frequencies,
)
