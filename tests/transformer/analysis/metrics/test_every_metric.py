"""The contract of head metrics: runs on every one that discover() finds."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from transformer.analysis.metrics.metric import UNDEFINED, Metric
from transformer.discover import discover

METRICS: dict[str, Metric] = discover("transformer.analysis.metrics", "METRIC")
every_metric = pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)


def random_weights(heads: int, queries: int, keys: int, causal: bool = False) -> Tensor:
    scores = torch.randn(heads, queries, keys, generator=torch.Generator().manual_seed(1))
    if causal:
        scores = scores.masked_fill(torch.ones(queries, keys).triu(1).bool(), -torch.inf)
    return scores.softmax(-1)


def test_the_metrics_are_found() -> None:
    expected = {
        "alignment",
        "confidence",
        "distance",
        "entropy",
        "first",
        "next",
        "previous",
        "same",
    }
    assert expected <= set(METRICS)


@every_metric
@pytest.mark.parametrize("shape", [(1, 2, 2), (4, 7, 7), (3, 5, 9), (3, 9, 5)])
def test_one_finite_number_a_head(metric: Metric, shape: tuple[int, int, int]) -> None:
    values = metric.compute(random_weights(*shape))
    assert values.shape == shape[:1]
    assert values.isfinite().all()
    assert (values >= 0).all()
    if metric.unit == "share":
        assert (values <= 1 + 1e-6).all()


@every_metric
def test_each_head_counts_by_itself(metric: Metric) -> None:
    weights = random_weights(5, 6, 6)
    order = torch.tensor([3, 0, 4, 2, 1])
    torch.testing.assert_close(metric.compute(weights[order]), metric.compute(weights)[order])


@every_metric
def test_a_fully_masked_row_is_left_out(metric: Metric) -> None:
    weights = random_weights(2, 6, 8)
    below = torch.cat([weights, torch.zeros(2, 1, 8)], dim=1)
    torch.testing.assert_close(metric.compute(below), metric.compute(weights))


@every_metric
def test_one_token_gives_a_number_or_says_that_there_is_none(metric: Metric) -> None:
    value = float(metric.compute(torch.ones(1, 1, 1)))
    assert (metric.text(value) == UNDEFINED) == math.isnan(value)


@pytest.mark.parametrize("name", ["previous", "next"])
def test_one_token_has_no_neighbours(name: str) -> None:
    assert METRICS[name].compute(torch.ones(1, 1, 1)).isnan()


@every_metric
def test_the_input_stays_as_it_was(metric: Metric) -> None:
    weights = random_weights(2, 4, 4)
    before = weights.clone()
    metric.compute(weights)
    assert torch.equal(weights, before)


@every_metric
def test_it_says_what_it_is(metric: Metric) -> None:
    assert metric.title and metric.explain.endswith(".") and metric.least_change > 0
    assert metric.text(0.5).endswith("%" if metric.unit == "share" else metric.unit)


N = 8
PATTERNS = {
    "identity": torch.eye(N),
    "uniform": torch.full((N, N), 1 / N),
    "first": torch.eye(N)[torch.zeros(N, dtype=torch.long)],
    "previous": torch.eye(N)[torch.arange(N).sub(1).clamp_min(0)],
    "next": torch.eye(N)[torch.arange(N).add(1).clamp_max(N - 1)],
}
KNOWN: dict[str, dict[str, float]] = {
    "alignment": {"identity": 1, "uniform": 1 / 8, "first": 1 / 8, "previous": 7 / 8},
    "entropy": {"identity": 0, "uniform": 3, "first": 0},
    "confidence": {"identity": 1, "uniform": 1 / 8, "previous": 1},
    "distance": {"identity": 0, "first": 3.5, "previous": 7 / 8, "uniform": 2.625},
    "first": {"first": 1, "identity": 1 / 8, "uniform": 1 / 8},
    "same": {"identity": 1, "uniform": 1 / 8, "previous": 1 / 8},
    "previous": {"previous": 1, "identity": 0, "first": 1 / 7, "uniform": 1 / 8},
    "next": {"next": 1, "identity": 0, "uniform": 1 / 8, "previous": 0},
}


@pytest.mark.parametrize(
    ("name", "pattern"), [(name, pattern) for name in KNOWN for pattern in KNOWN[name]]
)
def test_known_patterns_give_known_values(name: str, pattern: str) -> None:
    value = float(METRICS[name].compute(PATTERNS[pattern][None]))
    assert value == pytest.approx(KNOWN[name][pattern], abs=1e-6)


def entropy_of(row: list[float], i: int) -> float:
    return -sum(p * math.log2(p) for p in row if p > 0)


# What each metric takes from one row; None: the query has no such key.
REFERENCES: dict[str, Callable[[list[float], int], float | None]] = {
    "entropy": entropy_of,
    "confidence": lambda row, i: max(row),
    "distance": lambda row, i: sum(p * abs(i - j) for j, p in enumerate(row)),
    "first": lambda row, i: row[0],
    "same": lambda row, i: row[i] if i < len(row) else None,
    "previous": lambda row, i: row[i - 1] if 0 <= i - 1 < len(row) else None,
    "next": lambda row, i: row[i + 1] if i + 1 < len(row) else None,
}


@pytest.mark.parametrize("name", REFERENCES)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("queries", "keys"), [(7, 7), (5, 9), (9, 5)])
def test_it_equals_a_plain_double_loop(name: str, causal: bool, queries: int, keys: int) -> None:
    weights = random_weights(3, queries, keys, causal)
    expected = []
    for head in weights.double().tolist():
        rows = [REFERENCES[name](row, i) for i, row in enumerate(head)]
        counted = [value for value in rows if value is not None]
        expected.append(sum(counted) / len(counted))
    actual = METRICS[name].compute(weights).tolist()
    assert actual == pytest.approx(expected, abs=1e-5)


@every_metric
@pytest.mark.parametrize("causal", [False, True])
def test_padding_of_three_times_the_length_changes_nothing(metric: Metric, causal: bool) -> None:
    weights = random_weights(3, 6, 6, causal)
    padded = torch.nn.functional.pad(weights, (0, 12, 0, 12))
    close = {"rtol": 0.0, "atol": 1e-6}
    torch.testing.assert_close(
        metric.padded(padded, torch.full((3,), 6)), metric.compute(weights), **close
    )


def test_a_head_that_is_exactly_next_stays_so_with_padding() -> None:
    weights = torch.zeros(2, 9, 9)
    for head, n in enumerate((4, 9)):
        weights[head, range(n), [*range(1, n), n - 1]] = 1.0
    assert METRICS["next"].padded(weights, torch.tensor([4, 9])).tolist() == [1.0, 1.0]
