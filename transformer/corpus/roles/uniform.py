"""On all keys alike, as an average of what is there (a bag of words)."""

import torch
from torch import Tensor

from transformer.corpus.roles.role import Role, Sides


def any_key(sides: Sides) -> Tensor:
    """All keys: bool [B, Q, K]."""
    is_key = torch.arange(sides.keys.size(1)) < sides.n_keys[:, None]
    return is_key[:, None].expand(-1, sides.queries.size(1), -1)


def overlap(weights: Tensor, cells: Tensor) -> Tensor:
    """sum_j min(A_ij, 1 / n_i), mean over rows with n_i > 1 open keys: [B, H, Q, K] -> [B, H]."""
    n = cells.sum(-1, keepdim=True)
    alike = cells / n.clamp_min(1)  # [B, Q, K]
    shared = torch.minimum(weights, alike[:, None].to(weights)).sum(-1)  # [B, H, Q]
    has_choice = n[..., 0] > 1
    return shared.where(has_choice[:, None], 0).sum(-1) / has_choice.sum(-1)[:, None]


def of_one_key(allowed: Tensor, cells: Tensor) -> Tensor:
    """The overlap of a head that looks at one key: [B]."""
    n = cells.sum(-1)
    has_choice = n > 1
    return (1 / n.clamp_min(1)).where(has_choice, 0).sum(-1) / has_choice.sum(-1)


ROLE = Role(
    name="uniform",
    title="On all keys alike",
    cells=any_key,
    explain=(
        "The share of the weight that lies as if all keys had the same: 100 % where they have. "
        "Beside it stands a head that looks at one key. Random weights do it, too, so that "
        "it is not a label."
    ),
    source="broad attention in Clark et al. 2019, section 3",
    score=overlap,
    chance=of_one_key,
    least=None,
)
