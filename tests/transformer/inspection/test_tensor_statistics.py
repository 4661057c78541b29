"""Numbers of one tensor against what is known of it and against direct computation."""

import math
from itertools import pairwise

import pytest
import torch

from transformer.inspection.tensor_statistics import effective_rank, histogram, pool, statistics


def known(singular: list[float], rows: int, columns: int) -> torch.Tensor:
    """A matrix with these singular values and random directions."""
    torch.manual_seed(0)
    n = len(singular)
    u, v = (
        torch.linalg.qr(torch.randn(size, n, dtype=torch.float64))[0] for size in (rows, columns)
    )
    return u @ torch.diag(torch.tensor(singular, dtype=torch.float64)) @ v.mT


def test_singular_values_norms_and_effective_rank_of_a_known_matrix() -> None:
    found = statistics(known([4.0, 2.0, 2.0, 0.0], 9, 6))
    assert found.singular_values is not None
    assert found.singular_values.tolist() == pytest.approx([4, 2, 2, 0, 0, 0], abs=1e-12)
    assert found.spectral == pytest.approx(4)
    assert found.l2 == pytest.approx(math.sqrt(24))
    entropy = -(0.5 * math.log(0.5) + 2 * 0.25 * math.log(0.25))
    assert found.effective_rank == pytest.approx(math.exp(entropy))


def test_equal_singular_values_have_full_effective_rank() -> None:
    assert effective_rank(torch.ones(5)) == pytest.approx(5)
    assert effective_rank(torch.tensor([3.0, 0.0])) == pytest.approx(1)
    assert effective_rank(torch.zeros(3)) == 0


def test_moments_of_a_vector() -> None:
    found = statistics(torch.tensor([3.0, -4.0, 0.0, 1.0]))
    assert (found.mean, found.min, found.max, found.l1) == (0, -4, 3, 8)
    assert found.std == pytest.approx(math.sqrt(26 / 4))
    assert (found.spectral, found.l2) == pytest.approx((math.sqrt(26), math.sqrt(26)))


def test_what_is_not_finite_is_left_out() -> None:
    values = torch.tensor([[1.0, torch.nan], [torch.inf, 3.0]])
    found = statistics(values)
    assert (found.n_values, found.n_finite, found.mean) == (4, 2, 2)
    assert found.singular_values is None
    assert int(histogram(values)[1].sum()) == 2
    nothing = statistics(torch.full((2, 2), torch.nan))
    assert nothing.n_finite == 0 and math.isnan(nothing.mean)
    assert statistics(torch.zeros(0, 3)).n_values == 0


def test_a_large_matrix_has_no_singular_values() -> None:
    assert statistics(torch.zeros(2049, 2049)).singular_values is None


def test_the_histogram_counts_every_value_once() -> None:
    torch.manual_seed(0)
    values = torch.randn(50, 30)
    edges, counts = histogram(values, 10)
    below = [int(((values >= a) & (values < b)).sum()) for a, b in pairwise(edges)]
    below[-1] += int((values == edges[-1]).sum())
    assert counts.tolist() == below
    assert int(counts.sum()) == 1500
    assert histogram(torch.full((3,), 2.0), 4)[1].sum() == 3


@pytest.mark.parametrize("pooling", ["largest", "mean"])
def test_pooling_against_a_double_loop(pooling: str) -> None:
    torch.manual_seed(0)
    matrix = torch.randn(7, 11)
    pooled, size = pool(matrix, 4, pooling)  # type: ignore[arg-type]
    assert size == (2, 3) and pooled.shape == (4, 4)
    for r in range(4):
        for c in range(4):
            block = matrix[2 * r : 2 * r + 2, 3 * c : 3 * c + 3].flatten()
            expected = block[block.abs().argmax()] if pooling == "largest" else block.abs().mean()
            torch.testing.assert_close(pooled[r, c], expected)


def test_what_fits_is_not_pooled() -> None:
    matrix = torch.randn(4, 3)
    assert pool(matrix, 4, "mean") == (matrix, (1, 1))
