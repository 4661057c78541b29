"""A head that looks at the word before."""

import torch
from torch import Tensor

from transformer.edits.edit import Edit, EditKind


def previous(edit: Edit, scores: Tensor, first: int) -> Tensor:
    """One key of each row of [Q, K], that before the query; a row without one stays as it is."""
    queries = torch.arange(len(scores), device=scores.device) + first
    before = torch.arange(scores.size(1), device=scores.device) == queries[:, None] - 1
    before &= scores.isfinite()
    only = torch.where(before, 0.0, -torch.inf)
    return torch.where(before.any(-1, keepdim=True), only, scores)


EDIT = EditKind(
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
