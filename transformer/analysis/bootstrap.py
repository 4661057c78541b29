"""A mean over sentences and how sure it is: the percentile bootstrap (Efron 1979)."""

from dataclasses import dataclass

import torch
from torch import Tensor

N_RESAMPLES = 2000
_AT_ONCE = 100
FEWEST = 10
"""Sentences below which an interval says little. The percentile bootstrap is narrower than an
interval by Student's t by the factor 1.96 / t * sqrt((n - 1) / n), of what is normal: by 18 % at 10
sentences, by 37 % at 5, by 63 % at 3; and of 2 it gives just the two values."""
SEED = 0


def caution(*numbers: int) -> str:
    """Say that intervals over so many sentences say little, of several the fewest that have one;
    empty where they do not.

    >>> caution(1, 40, 3), caution(10), caution(1)
    ('An interval over 3 sentences says little: below 10 it is too narrow.', '', '')
    """
    n = min((each for each in numbers if each > 1), default=FEWEST)
    if n >= FEWEST:
        return ""
    return f"An interval over {n} sentences says little: below {FEWEST} it is too narrow."


@dataclass(frozen=True, eq=False)
class Interval:
    """Means of N quantities, and between what 95 % of the means of resampled sentences lie."""

    mean: Tensor
    low: Tensor
    high: Tensor


def interval(values: Tensor, sizes: Tensor | None = None) -> Interval:
    """values: [S, N], a row per sentence -> [N] each; the same values give the same interval.

    sizes: [S], what each sentence counts for, such as its words, of which values are means; None:
    all count alike. With one sentence nothing is known of others: low and high are not a number.
    """
    n, values = len(values), values.double()
    sizes = torch.ones(n).double() if sizes is None else sizes.double()
    totals, size = values * sizes[:, None], sizes.sum()
    mean = totals.sum(0) / size
    if n < 2:
        none = torch.full(values.shape[1:], torch.nan, dtype=torch.float64)
        return Interval(mean, none, none)
    generator = torch.Generator().manual_seed(SEED)
    means = []
    for _ in range(0, N_RESAMPLES, _AT_ONCE):
        drawn = torch.randint(n, (_AT_ONCE, n), generator=generator)
        counts = torch.zeros(_AT_ONCE, n, dtype=torch.float64)
        counts.scatter_add_(1, drawn, torch.ones_like(counts))
        means.append(counts @ totals / (counts @ sizes)[:, None])
    low, high = torch.cat(means).quantile(torch.tensor([0.025, 0.975]).double(), dim=0)
    return Interval(mean, low, high)
