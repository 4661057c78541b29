"""The declaration of a role: which keys a head looks at that plays it."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, eq=False)
class Sides:
    """The tokens of a padded batch along one kind of attention."""

    queries: Tensor
    """Token ids [B, Q], -1 at padding."""
    keys: Tensor
    """Token ids [B, K], -1 at padding."""
    special: Tensor
    """bool [B, K], True at special tokens, such as the end of a text."""
    n_keys: Tensor
    """[B], the keys that are no padding."""
    counts: Tensor | None
    """[B, K], how often the sources of the corpus have each key; None where nothing counts them."""
    is_same: bool
    """True: queries and keys are the same tokens."""


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
