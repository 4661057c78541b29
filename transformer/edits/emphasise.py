"""Words emphasised for a head: it looks less at all others."""

import math

import torch
from torch import Tensor

from transformer.edits.edit import Edit, EditKind, Value


def emphasised(edit: Edit, scores: Tensor, first: int) -> Tensor:
    """log alpha is added to the scores [Q, K] of all keys but those that are named."""
    alpha, *keys = edit.values
    others = torch.full((scores.size(1),), math.log(alpha), device=scores.device)
    others[[int(key) for key in keys if key < len(others)]] = 0.0  # some may not be written yet
    return scores + others


EDIT = EditKind(
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
