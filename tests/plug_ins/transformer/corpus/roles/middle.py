"""The token in the middle of a text."""

import torch
from torch import Tensor

from transformer.corpus.roles.role import Role, Sides


def middle(sides: Sides) -> Tensor:
    """Find the key in the middle, for every query: bool [B, Q, K]."""
    at = torch.arange(sides.keys.size(1)) == (sides.n_keys // 2)[:, None]
    return at[:, None].expand(-1, sides.queries.size(1), -1)


ROLE = Role(
    name="middle",
    title="On the middle",
    cells=middle,
    explain="Weight on the token in the middle of the text.",
)
