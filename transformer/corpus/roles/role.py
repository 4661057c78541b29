"""The declaration of a role: which keys a head looks at that plays it."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from transformer.analysis.metrics.metric import LEAST


@dataclass(frozen=True, eq=False)
class Sides:
    """The tokens of a padded batch along one kind of attention."""

    queries: Tensor
    """Token ids [B, Q], -1 at padding; below -1 words that the vocabulary lacks, none twice: two of
    them need not be the same word."""
    keys: Tensor
    """The same of the keys [B, K]."""
    names: Tensor
    """The same of the tokens that name the rows [B, Q]: in cross-attention those that each row
    writes, where the queries are those that it has read."""
    special: Tensor
    """bool [B, K], True at special tokens, such as the end of a text."""
    words: Tensor
    """bool [B, K], True at keys of the vocabulary with a letter or a digit."""
    n_keys: Tensor
    """[B], the keys that are no padding, but for those that a model adds behind them."""
    counts: Tensor | None
    """[B, K], how often the sources of the corpus have each key; None where nothing counts them."""
    is_same: bool
    """True: queries and keys are the same tokens."""
    is_cross: bool = False
    """True: of cross-attention, where an id stands for a piece, whatever each side's vocabulary."""


def mean_weight(weights: Tensor, cells: Tensor) -> Tensor:
    """The weight on a row's cells, mean over rows that have such: [B, H, Q, K] -> [B, H].

    cells: bool [B, Q, K], which no mask closes.
    """
    mass = torch.einsum("bhqk,bqk->bh", weights, cells.to(weights))
    return mass / cells.any(-1).sum(-1)[:, None]


def share_of_keys(allowed: Tensor, cells: Tensor) -> Tensor:
    """The same of a head that looks at all keys alike: [B]. allowed: open cells [B, Q, K]."""
    shares = cells.sum(-1) / allowed.sum(-1).clamp_min(1)
    return shares.sum(-1) / cells.any(-1).sum(-1)


@dataclass(frozen=True)
class Role:
    """A role, whose score is the weight on its keys: the mean over queries that have such keys.

    A head that looks at all keys alike has the score `chance`: their share of the keys that a query
    may look at (the sieve score of Pande et al. 2021 is the ratio of the two).
    """

    name: str
    title: str
    cells: Callable[[Sides], Tensor | None]
    """bool [B, Q, K], True at the keys of each query; None: it is no role of such attention. Keys
    that a mask closes are left out by whoever asks."""
    explain: str
    source: str = ""
    """The publication that it is from."""
    score: Callable[[Tensor, Tensor], Tensor] = mean_weight
    """Weights [B, H, Q, K] and those cells that are open [B, Q, K] -> [B, H]."""
    chance: Callable[[Tensor, Tensor], Tensor] = share_of_keys
    """All open cells and those of the role, bool [B, Q, K] -> the score of no role [B]."""
    least: float | None = LEAST
    """The share that a head gains of what chance leaves, where it plays it; None: it is a number,
    and no label. See `transformer.corpus.labels`."""
