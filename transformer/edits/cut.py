"""An arrow cut: a query no longer sees a key."""

import torch
from torch import Tensor

from transformer.edits.edit import Edit, EditKind


def cut(edit: Edit, scores: Tensor, first: int) -> Tensor:
    """-inf for the key in the query's scores [1, K]."""
    scores[:, edit.key] = -torch.inf
    return scores


EDIT = EditKind(
    name="cut",
    title="Cut an arrow",
    of="cell",
    explain="The query no longer sees this key in this head; its other keys share the weight.",
    formula=r"s_{ij} = -\infty",
    source="attention knockout: Geva et al. 2023",
    scores=cut,
)
