"""The token after an earlier place of the query's own (an induction head, Olsson et al. 2022)."""

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer.corpus.roles.duplicate import same_token
from transformer.corpus.roles.role import Role, Sides


def after_same_token(sides: Sides) -> Tensor | None:
    """Find the keys that follow the query's token elsewhere, but for the query: bool [B, Q, K]."""
    same = same_token(sides)
    if same is None:
        return None
    following = F.pad(same[..., :-1], (1, 0)) & (sides.keys != -1)[:, None]
    return following & ~torch.eye(same.size(1), dtype=torch.bool, device=same.device)


ROLE = Role(
    name="induction",
    title="On what followed before",
    cells=after_same_token,
    explain=(
        "Weight on the token after another place of the query's own token, where a head looks that "
        "continues what was there before. Mean over the queries that have such a token."
    ),
    source="Olsson et al. 2022",
)
