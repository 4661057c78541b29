"""Hypotheses ranked anew at another length penalty: scores, ties and leads."""

from dataclasses import dataclass

import pytest

from transformer.decoding.reranking import (
    PENALTIES,
    by_gnmt,
    by_length,
    leads,
    ranking,
    score_at,
    ties,
)


@dataclass(frozen=True)
class Parts:
    ranked_by: float
    length: int
    coverage: float = 0.0


SHORT, LONG = Parts(-4.0, 8), Parts(-4.9, 11)


def test_scores_are_those_of_both_forms() -> None:
    parts = Parts(-6.0, 10)
    assert score_at(parts, 1.0, by_length) == pytest.approx(-0.6)
    assert score_at(parts, 0.6, by_length) == pytest.approx(-1.507132, abs=1e-6)
    assert score_at(parts, 0.6, by_gnmt) == pytest.approx(-3.462480, abs=1e-6)


@pytest.mark.parametrize(("base", "penalty"), [(by_gnmt, 0.977372), (by_length, 0.637269)])
def test_two_tie_where_the_closed_form_says(base, penalty) -> None:
    (tie,) = ties([SHORT, LONG], base)
    assert tie.penalty == pytest.approx(penalty, abs=1e-6)
    assert (tie.below, tie.above) == (0, 1)
    assert score_at(SHORT, tie.penalty, base) == pytest.approx(score_at(LONG, tie.penalty, base))
    assert ranking([SHORT, LONG], tie.penalty - 0.01, base) == [0, 1]
    assert ranking([SHORT, LONG], tie.penalty + 0.01, base) == [1, 0]


def test_the_order_of_hypotheses_is_no_matter() -> None:
    (one,), (other,) = ties([SHORT, LONG]), ties([LONG, SHORT])
    assert one.penalty == pytest.approx(other.penalty)
    assert (other.below, other.above) == (1, 0)


def test_no_tie_where_the_longer_one_is_more_probable() -> None:
    assert ties([Parts(-4.9, 8), Parts(-4.0, 11)]) == []
    assert ties([Parts(-4.0, 8), Parts(-4.9, 8)]) == []
    assert ties([Parts(0.0, 8), Parts(-4.9, 11)]) == []


def test_leads_follow_each_other_without_a_gap() -> None:
    never = Parts(-9.0, 9)
    first, second = leads([SHORT, LONG, never])
    assert (first.index, second.index) == (0, 1)
    assert (first.start, second.end) == PENALTIES == (0.0, 5.0)
    assert first.end == second.start == pytest.approx(0.977372, abs=1e-6)


def test_coverage_moves_a_tie_and_may_make_two() -> None:
    """Both are the score's own zeros: before, between and after another one is ahead."""
    one, other = Parts(-4.0, 8, -0.3), Parts(-4.9, 11, -0.1)
    (tie,) = ties([one, other])
    assert tie.penalty < 0.977372
    assert score_at(one, tie.penalty) == pytest.approx(score_at(other, tie.penalty))
    pair = [Parts(-4.0, 4, 0.0), Parts(-8.0, 20, -0.12)]
    two = ties(pair, between=(0.0, 12.0))
    for tie in two:
        assert score_at(pair[0], tie.penalty) == pytest.approx(score_at(pair[1], tie.penalty))
    assert [(tie.below, tie.above) for tie in two] == [(0, 1), (1, 0)]
