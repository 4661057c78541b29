"""One tensor in numbers: moments, norms, singular values, a histogram, a pooled picture."""

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

LARGEST = 2048
"""A matrix whose smaller side is longer has no singular values here: they would take minutes."""
Pooling = Literal["largest", "mean"]


@dataclass(frozen=True, eq=False)
class Statistics:
    """Over the finite values of a tensor, in double precision; NaN where there are none."""

    n_values: int
    n_finite: int
    mean: float
    std: float
    """Over all values: divided by n."""
    min: float
    max: float
    l1: float
    """sum |x|"""
    l2: float
    """sqrt(sum x^2): of a matrix, Frobenius' norm."""
    singular_values: Tensor | None
    """[min(rows, columns)], falling; None where they were not computed."""

    @property
    def spectral(self) -> float | None:
        """The largest singular value."""
        values = self.singular_values
        return None if values is None else float(values[0])

    @property
    def effective_rank(self) -> float | None:
        return None if self.singular_values is None else effective_rank(self.singular_values)


def statistics(values: Tensor) -> Statistics:
    """values: any shape."""
    finite = values[values.isfinite()].double()
    whole = finite.numel() == values.numel()
    if not finite.numel():
        nan = math.nan
        return Statistics(values.numel(), 0, nan, nan, nan, nan, nan, nan, None)
    return Statistics(
        n_values=values.numel(),
        n_finite=finite.numel(),
        mean=float(finite.mean()),
        std=float(finite.std(correction=0)),
        min=float(finite.min()),
        max=float(finite.max()),
        l1=float(finite.abs().sum()),
        l2=float(finite.norm()),
        singular_values=singular_values(values) if whole else None,
    )


def as_matrix(values: Tensor) -> Tensor:
    """One row for a vector; of more than two axes the first stays, the others are one."""
    return values.reshape(1, -1) if values.dim() < 2 else values.flatten(1)


def singular_values(values: Tensor) -> Tensor | None:
    """Falling, in double precision: [min(rows, columns)]; None for a matrix that is too large."""
    matrix = as_matrix(values)
    if not 0 < min(matrix.shape) <= LARGEST:
        return None
    return torch.linalg.svdvals(matrix.double())


def effective_rank(singular: Tensor) -> float:
    """exp(-sum p ln p), p = sigma / sum sigma (Roy and Vetterli 2007): from 1 to the rank.

    0 where every singular value is.
    """
    total = singular.sum()
    if not total > 0:
        return 0.0
    p = singular / total
    return float(torch.exp(-torch.special.xlogy(p, p).sum()))


def histogram(values: Tensor, n_bins: int = 80) -> tuple[Tensor, Tensor]:
    """Edges [n_bins + 1] from the least to the largest finite value, and counts [n_bins]."""
    finite = values[values.isfinite()].double()
    if not finite.numel():
        return torch.zeros(n_bins + 1, dtype=torch.float64), torch.zeros(n_bins).long()
    low, high = float(finite.min()), float(finite.max())
    if low == high:  # a bin around the one value
        low, high = low - 0.5, high + 0.5
    edges = torch.linspace(low, high, n_bins + 1, dtype=torch.float64)
    bins = torch.bucketize(finite, edges[1:-1], right=True)
    return edges, bins.bincount(minlength=n_bins)


def pool(matrix: Tensor, most: int, pooling: Pooling) -> tuple[Tensor, tuple[int, int]]:
    """A matrix [R, C] as at most [most, most], and the rows and columns that make one cell.

    "largest": of each block the value farthest from 0, with its sign; "mean": its mean |x|.
    Blocks at the last row and column may be smaller. A matrix that fits stays as it is.
    """
    size = tuple(-(-n // most) for n in matrix.shape)
    rows, columns = size
    if size == (1, 1):
        return matrix, (1, 1)
    blocks = _blocks(matrix, rows, columns)  # [r, c, rows * columns], filled up with NaN
    if pooling == "mean":
        return blocks.abs().nanmean(-1), (rows, columns)
    places = blocks.abs().nan_to_num(-1.0, posinf=torch.inf).argmax(-1, keepdim=True)
    return blocks.gather(-1, places)[..., 0], (rows, columns)


def _blocks(matrix: Tensor, rows: int, columns: int) -> Tensor:
    down, across = -matrix.size(0) % rows, -matrix.size(1) % columns
    padded = torch.nn.functional.pad(matrix, (0, across, 0, down), value=math.nan)
    split = padded.unflatten(0, (-1, rows)).unflatten(2, (-1, columns))  # [r, rows, c, columns]
    return split.transpose(1, 2).flatten(2)
