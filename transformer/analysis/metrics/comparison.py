"""Numbers that set two heads side by side: weights [Q, K] and [Q, K] -> one number."""

import math

import torch
from torch import Tensor


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
