"""An arrow made stronger or weaker."""

import math

from torch import Tensor

from transformer.edits.edit import Edit, EditKind, Value


def scaled(edit: Edit, scores: Tensor, first: int) -> Tensor:
    """log alpha is added to the key's score in [1, K]."""
    scores[:, edit.key] += math.log(edit.values[0])
    return scores


EDIT = EditKind(
    name="arrow-scale",
    title="Weaken or strengthen an arrow",
    of="cell",
    explain="The weight of this key is multiplied by a factor, and the row sums to 1 again.",
    formula=r"s_{ij} = q_i \cdot k_j + \log \alpha",
    source="log alpha on the score is the same: Zhang et al. 2023, section 3",
    values=(Value("Factor", 0.5, 1e-6, 1e6, slider=4),),
    zero="cut",
    scores=scaled,
)
