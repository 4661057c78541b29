"""Two heads set side by side."""

import math

import pytest
import torch
from torch import Tensor

from transformer.analysis.metrics.metric import jensen_shannon, largest_difference


def weights(seed: int, sharpness: float = 1.0) -> Tensor:
    scores = torch.randn(6, 9, generator=torch.Generator().manual_seed(seed))
    return (sharpness * scores).softmax(-1)


def kullback_leibler(p: list[float], q: list[float]) -> float:
    return sum(x * math.log2(x / y) for x, y in zip(p, q, strict=True) if x > 0)


@pytest.mark.parametrize("sharpness", [0.1, 1, 30])
def test_jensen_shannon_equals_its_definition_row_by_row(sharpness: float) -> None:
    a, b = weights(1, sharpness), weights(2, sharpness)
    total = 0.0
    for p, q in zip(a.double().tolist(), b.double().tolist(), strict=True):
        middle = [(x + y) / 2 for x, y in zip(p, q, strict=True)]
        total += (kullback_leibler(p, middle) + kullback_leibler(q, middle)) / 2
    assert jensen_shannon(a, b) == pytest.approx(total / len(a), abs=1e-6)


def test_jensen_shannon_is_symmetric_and_within_one_bit() -> None:
    a, b = weights(1, 5), weights(2, 5)
    assert jensen_shannon(a, b) == jensen_shannon(b, a)
    assert 0 < jensen_shannon(a, b) < 1
    assert jensen_shannon(a, a) == 0
    assert jensen_shannon(torch.eye(4), torch.eye(4).roll(1, 0)) == 1


def test_rows_that_attend_to_nothing_are_left_out() -> None:
    a, b = weights(1), weights(2)
    below = torch.zeros(1, 9)
    assert jensen_shannon(torch.cat([a, below]), torch.cat([b, below])) == jensen_shannon(a, b)
    assert math.isnan(jensen_shannon(below, below))


def test_the_largest_difference_is_absolute() -> None:
    a, b = torch.eye(3), torch.eye(3)
    b[1] = torch.tensor([0.75, 0.25, 0.0])
    assert largest_difference(a, b) == largest_difference(b, a) == 0.75


@pytest.mark.parametrize("compare", [jensen_shannon, largest_difference])
def test_heads_of_different_shapes_are_refused(compare: object) -> None:
    with pytest.raises(ValueError, match=r"\(6, 9\) and \(6, 8\)"):
        compare(weights(1), weights(1)[:, :8])  # type: ignore[operator]
