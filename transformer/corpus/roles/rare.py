"""The least frequent token of a text (the rare word head of Voita et al. 2019, section 5.3)."""

import torch
from torch import Tensor

from transformer.analysis.metrics.metric import LEAST_OF_ONE
from transformer.corpus.roles.role import Role, Sides


def rarest(sides: Sides) -> Tensor | None:
    """Find the tokens of a text that its corpus has least often: bool [B, Q, K]."""
    if sides.counts is None:
        return None
    is_word = (sides.keys >= 0) & ~sides.special
    counts = sides.counts.where(is_word, torch.iinfo(sides.counts.dtype).max)
    least = (counts == counts.amin(-1, keepdim=True)) & is_word
    return least[:, None].expand(-1, sides.queries.size(1), -1)


ROLE = Role(
    name="rare",
    title="On the rarest token",
    cells=rarest,
    explain=(
        "Weight on the token of the source that the sources of this survey have least often; on "
        "all of them where several are equally rare. Voita et al. count how often it has the "
        "largest weight."
    ),
    source="Voita et al. 2019, section 5.3",
    least=LEAST_OF_ONE,
)
