"""When what happens in a run."""

from itertools import pairwise

import pytest

from transformer.training.task import inverse_square_root, rate, snapshot_steps


def test_the_rate_goes_up_stays_and_falls_to_zero() -> None:
    factors = [rate(step, 1000, 100, 0.5) for step in range(1000)]
    assert factors[0] == pytest.approx(0.01)
    assert factors[:100] == sorted(factors[:100])
    assert set(factors[99:501]) == {1.0}
    assert factors[500:] == sorted(factors[500:], reverse=True)
    assert factors[-1] == pytest.approx(1 / 500)
    assert rate(1000, 1000, 100, 0.5) == 0
    assert all(0 < factor <= 1 for factor in factors)


def test_a_run_that_is_resumed_for_longer_never_passes_the_highest_rate() -> None:
    assert rate(1000, 4000, 100, 0.5) == 1.0


@pytest.mark.parametrize(("d_model", "warmup"), [(512, 4000), (256, 8000), (1, 1)])
def test_the_papers_rate_peaks_where_the_warm_up_ends(d_model: int, warmup: int) -> None:
    rates = [inverse_square_root(step, d_model, warmup) for step in range(1, 3 * warmup + 2)]
    assert rates.index(max(rates)) + 1 == warmup
    assert max(rates) == pytest.approx((d_model * warmup) ** -0.5)
    assert rates[0] == pytest.approx(max(rates) / warmup)
    assert inverse_square_root(4 * warmup, d_model, warmup) == pytest.approx(max(rates) / 2)


@pytest.mark.parametrize(("steps", "n"), [(2000, 12), (500, 5), (30, 12), (10, 12), (1, 3)])
def test_snapshots_are_log_spaced_from_the_first_step_to_the_last(steps: int, n: int) -> None:
    found = snapshot_steps(steps, n)
    assert found[0] == 0
    assert found[-1] == steps
    assert found == sorted(set(found))
    assert len(found) <= n
    if steps >= 500:
        assert len(found) == n
        ratios = [b / a for a, b in pairwise(found[1:])]
        assert max(ratios) / min(ratios) < 1.1


def test_no_snapshots_unless_asked_for() -> None:
    assert snapshot_steps(2000, 0) == []
    assert snapshot_steps(2000, 2) == [0, 2000]
