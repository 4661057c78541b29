"""Roles that a head may play: the keys that a head of that role looks at. Each is declared in
ROLE.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer.analysis.metrics.metric import LEAST_OF_ONE
from transformer.corpus.roles.role import Role, Sides

# Cross-attention's rows read by the word that each writes (AWO, Kobayashi et al. 2020).


def anchors(sides: Sides, rows: Tensor) -> Tensor | None:
    """Find the keys that spell the word of a row, bool [B, Q, K]: names, numbers, loan words.

    rows: the ids of the words that rows are read by, [B, Q]. Signs are left out: many heads that
    align nothing rest on the full stop.
    """
    if not sides.is_cross:
        return None
    return (rows[:, :, None] == sides.keys[:, None]) & sides.words[:, None]


ALIGNS_WRITTEN_ROLE = Role(
    name="aligns_written",
    title="Aligns the word it writes",
    cells=lambda sides: anchors(sides, sides.names),
    explain=(
        "Weight on a word of the source in the row that writes the same word: a name, a number, "
        "whatever both texts spell alike. Such words need no alignment made by people; beside "
        "the weight in the row that has read it, this tells by which of the two a head aligns."
    ),
    source="AWO in Kobayashi et al. 2020",
)


# Cross-attention's rows read by the word that each has read (AWI, Kobayashi et al. 2020).

ALIGNS_READ_ROLE = Role(
    name="aligns_read",
    title="Aligns the word it has read",
    cells=lambda sides: anchors(sides, sides.queries),
    explain=(
        "Weight on a word of the source in the row that has just read the same word, as the last "
        "one written: a name, a number, whatever both texts spell alike. Where it is above the "
        "weight in the row that writes the word, a head aligns by what was read."
    ),
    source="AWI in Kobayashi et al. 2020",
)


# Other places of the query's own token (a duplicate token head, Wang et al. 2023).


def same_token(sides: Sides) -> Tensor | None:
    """Find the keys that are the query's token at another place: bool [B, Q, K]."""
    if not sides.is_same:
        return None
    same = sides.queries[:, :, None] == sides.keys[:, None]
    elsewhere = ~torch.eye(*same.shape[1:], dtype=torch.bool, device=same.device)
    return same & elsewhere & ~sides.special[:, None]


DUPLICATE_ROLE = Role(
    name="duplicate",
    title="On the same token elsewhere",
    cells=same_token,
    explain="Weight on other places where the query's own token stands; special tokens have none.",
    source="Wang et al. 2023",
)


# The special token that ends a text, where heads rest that have nothing to say.


def end_token(sides: Sides) -> Tensor | None:
    """Find the last key, where it is special and not the only one: bool [B, Q, K]."""
    last = (sides.n_keys - 1)[:, None]
    is_end = sides.special.gather(1, last) & (last > 0)  # [B, 1]
    at = sides.keys.new_zeros(sides.keys.shape).scatter(1, last, 1) > 0
    return (at & is_end)[:, None].expand(-1, sides.queries.size(1), -1)


END_ROLE = Role(
    name="end",
    title="On the end token",
    cells=end_token,
    explain="Weight on the special token that ends the text, where there is one.",
    source="Clark et al. 2019, section 3",
)


# The token after an earlier place of the query's own (an induction head, Olsson et al. 2022).


def after_same_token(sides: Sides) -> Tensor | None:
    """Find the keys that follow the query's token elsewhere, but for the query: bool [B, Q, K]."""
    same = same_token(sides)
    if same is None:
        return None
    following = F.pad(same[..., :-1], (1, 0)) & (sides.keys != -1)[:, None]
    return following & ~torch.eye(*same.shape[1:], dtype=torch.bool, device=same.device)


INDUCTION_ROLE = Role(
    name="induction",
    title="On what followed before",
    cells=after_same_token,
    explain=(
        "Weight on the token after another place of the query's own token, where a head looks that "
        "continues what was there before. Mean over the queries that have such a token."
    ),
    source="Olsson et al. 2022",
)


# The least frequent token of a text (the rare word head of Voita et al. 2019, section 5.3).


def rarest(sides: Sides) -> Tensor | None:
    """Find the tokens of a text that its corpus has least often: bool [B, Q, K]."""
    if sides.counts is None:
        return None
    is_word = (sides.keys >= 0) & ~sides.special
    counts = sides.counts.where(is_word, torch.iinfo(sides.counts.dtype).max)
    least = (counts == counts.amin(-1, keepdim=True)) & is_word
    return least[:, None].expand(-1, sides.queries.size(1), -1)


RARE_ROLE = Role(
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


# On all keys alike, as an average of what is there (a bag of words).


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


UNIFORM_ROLE = Role(
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


ROLE = (
    ALIGNS_READ_ROLE,
    ALIGNS_WRITTEN_ROLE,
    DUPLICATE_ROLE,
    END_ROLE,
    INDUCTION_ROLE,
    RARE_ROLE,
    UNIFORM_ROLE,
)
