"""The declaration of a head metric, and every metric that says something about an attention."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

# The declaration of a head metric.

UNDEFINED = "—"
"""The sign of a metric that no query of a head could answer."""
LEAST = 0.2
"""The share that a head gains of what chance leaves, where it plays a role."""
LEAST_OF_ONE = 0.3
"""The same of a role whose key is one place or token in all sentences: a random head that favours
it does so in all of them, which no interval over sentences tells."""


@dataclass(frozen=True)
class Metric:
    """One number that describes a head.

    compute: weights [H, Q, K], rows summing to 1 (or to 0 where a mask forbids every key)
    -> [H], each head by itself. NaN where no query counts, such as the share of previous tokens
    in a sequence of one.
    """

    name: str
    title: str
    unit: str
    """The unit after a value, such as "bits"; "share" is written in per cent."""
    compute: Callable[..., Tensor]
    explain: str
    """The meaning and how it is averaged; the first sentence stands by itself on a card."""
    formula: str
    """A formula of A, the weights of Q queries, in LaTeX as viz/formula.py reads it."""
    source: str = ""
    """The publication it is from, such as "Clark et al. 2019, section 3"."""
    same_sequence: bool = False
    """True: it says something only where queries and keys are the same tokens."""
    cross: bool = False
    """True: it says something only where a target looks at its source."""
    least_change: float = 0.05
    """The least change in the course of a training that tells that a head took on a role."""
    needs_lengths: bool = False
    """True: `compute` is told how many keys each head has, too [H]: it would take padding at their
    end, of weight 0, for keys. Rows of padded queries are 0, and no metric counts such rows."""
    of_words: bool = False
    """True: `compute` is told how many keys are words, in the same way, where a model adds others
    behind them."""
    of_added: bool = False
    """True: it says something only there."""

    is_role: bool = False
    """True: a head that has much of it plays a role; what chance gives is that of a head that looks
    at all keys alike. See `transformer.corpus.labels`."""
    least: float = LEAST
    """The share that a head gains of what chance leaves, where it plays this role."""

    def padded(self, weights: Tensor, n_keys: Tensor) -> Tensor:
        """The same numbers of texts of a padded batch.

        weights: [H, Q, K], 0 in rows and columns of padding; n_keys: [H], the words among them.
        """
        return self.compute(weights, n_keys) if self.needs_lengths else self.compute(weights)

    def beside(self, n_added: int) -> "Metric":
        """The metric where a model adds n keys behind the words."""

        def compute(weights: Tensor, n_keys: Tensor | None = None) -> Tensor:
            if n_keys is None:
                n = weights.size(-1) - n_added
                n_keys = torch.full((len(weights),), n, device=weights.device)
            return self.compute(weights, n_keys)

        is_told = self.of_words and n_added
        return replace(self, compute=compute, needs_lengths=True) if is_told else self

    def text(self, value: float) -> str:
        """A value with its unit, as people read it.

        >>> METRIC.text(0.345)  # doctest: +SKIP
        '34 %'
        """
        if math.isnan(value):
            return UNDEFINED
        return f"{100 * value:.0f} %" if self.unit == "share" else f"{value:.2f} {self.unit}"

    @property
    def cited(self) -> str:
        """Explain it, with its source."""
        return f"{self.explain[:-1]} ({self.source})." if self.source else self.explain


def mean_over_queries(values: Tensor, weights: Tensor) -> Tensor:
    """The mean of values [H, Q] over the queries that may attend to something: [H].

    weights: [H, Q, K]. A fully masked row says nothing about a head and is left out.
    """
    attends = weights[..., :1].sum(-1) > 0  # [H, Q]; the first key alone tells of most rows
    if attends.all():
        return values.mean(-1)
    others = ~attends
    attends[others] = weights[others].sum(-1) > 0
    return values.where(attends, 0.0).sum(-1) / attends.sum(-1)  # 0 / 0 is NaN: undefined


def mass_at_offset(weights: Tensor, n_keys_of: Tensor | None = None, *, offset: int) -> Tensor:
    """Mean weight on the key `offset` positions after the query's own: [H, Q, K] -> [H].

    n_keys_of: [H], the keys of each head that are words, and no padding; None: all are.

    The mean runs over the queries that have such a key, seen or masked: a causal head gives the
    next token 0, not "undefined". Clark et al. (2019) divide by all queries instead, which makes
    short sentences look less positional than they are.
    """
    n_queries, n_keys = weights.shape[1:]
    first, last = max(0, -offset), min(n_queries, n_keys - offset)
    rows = weights[:, first : max(first, last)]
    if n_keys_of is not None:  # a row whose key is padding has none
        keys = torch.arange(first, max(first, last), device=weights.device) + offset
        rows = rows.where((keys < n_keys_of[:, None])[..., None], 0.0)
    return mean_over_queries(rows.diagonal(max(0, offset), 1, 2), rows)


def on_added(weights: Tensor, n_words: Tensor) -> Tensor:
    """The weight of each row on the keys behind the n words of each head [H]: [H, Q]."""
    keys = torch.arange(weights.size(-1), device=weights.device)
    is_word = keys < n_words.to(weights.device)[:, None, None]
    return weights.masked_fill(is_word, 0.0).sum(-1)


# Numbers that set two heads side by side: weights [Q, K] and [Q, K] -> one number.


def jensen_shannon(a: Tensor, b: Tensor) -> float:
    """mean_i JS(a_i, b_i) with JS = H((a + b) / 2) - (H(a) + H(b)) / 2, in bits (Lin 1991).

    a, b: [Q, K], rows sum to 1. Between 0 (the same) and 1 (no key in common). Clark et al. (2019)
    sum it over tokens, in nats. Queries that may attend to nothing in a or in b are left out;
    NaN when none is left. Raises ValueError when the shapes differ.
    """
    return float(jensen_shannon_of_heads(a, b))


def jensen_shannon_of_heads(a: Tensor, b: Tensor) -> Tensor:
    """The same of each of many pairs: [..., Q, K] and [..., Q, K] -> [...] in float64."""
    divergence = jensen_shannon_of_rows(a, b)
    counted = divergence.isfinite()
    return divergence.where(counted, 0.0).sum(-1) / counted.sum(-1)  # 0 / 0 is NaN


def jensen_shannon_of_rows(a: Tensor, b: Tensor) -> Tensor:
    """The same of each row: [..., Q, K] and [..., Q, K] -> [..., Q] in float64.

    A row that may attend to nothing in a or in b is not a number.
    """
    _require_same_shape(a, b)
    counted = (a.sum(-1) > 0) & (b.sum(-1) > 0)  # [..., Q]
    a, b = a.double(), b.double()
    divergence = _entropy((a + b) / 2) - (_entropy(a) + _entropy(b)) / 2  # [..., Q], bits
    divergence = divergence.clamp(0, 1)  # rounding leaves 0 and 1 by some 1e-17
    return divergence.where(counted, torch.nan)


def largest_difference(a: Tensor, b: Tensor) -> float:
    """max_ij |a_ij - b_ij| of weights [Q, K]. Raises ValueError when the shapes differ."""
    _require_same_shape(a, b)
    return float((a - b).abs().amax())


def _entropy(rows: Tensor) -> Tensor:
    bits: Tensor = torch.special.entr(rows).sum(-1) / math.log(2)
    return bits


def _require_same_shape(a: Tensor, b: Tensor) -> None:
    if a.shape != b.shape:
        raise ValueError(f"heads of different shapes: {tuple(a.shape)} and {tuple(b.shape)}.")
