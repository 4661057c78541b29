"""Other places of the query's own token (a duplicate token head, Wang et al. 2023)."""

import torch
from torch import Tensor

from transformer.corpus.roles.role import Role, Sides


def same_token(sides: Sides) -> Tensor | None:
    """Find the keys that are the query's token at another place: bool [B, Q, K]."""
    if not sides.is_same:
        return None
    same = sides.queries[:, :, None] == sides.keys[:, None]
    elsewhere = ~torch.eye(same.size(1), dtype=torch.bool, device=same.device)
    return same & elsewhere & ~sides.special[:, None]


ROLE = Role(
    name="duplicate",
    title="On the same token elsewhere",
    cells=same_token,
    explain="Weight on other places where the query's own token stands; special tokens have none.",
    source="Wang et al. 2023",
)
