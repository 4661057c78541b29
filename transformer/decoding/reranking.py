"""Finished hypotheses ranked anew: their scores at another length penalty, and where two tie.

The log-probability divided by a power of the length, after Wu et al. 2016, section 7; with
`by_length`, as the library of Hugging Face divides. The search that wrote them is not run again: at
another penalty it may keep others.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Protocol

from transformer.decoding.frontier import LENGTH_PENALTY

Base = Callable[[int], float]
"""From a length in tokens to the number whose power the log-probability is divided by."""
PENALTIES = (LENGTH_PENALTY.least, LENGTH_PENALTY.most)
"""The length penalties that are looked at: those that a screen offers."""
N_HALVINGS = 60
"""Halvings of an interval until the tie in it is as exact as a float."""


class Parts(Protocol):
    """The parts of a score that do not change with the length penalty."""

    @property
    def ranked_by(self) -> float:
        """The sum that is ranked by, in nats: see `Score.log_prob`."""

    @property
    def length(self) -> int:
        """In tokens."""

    @property
    def coverage(self) -> float:
        """The coverage penalty; 0 where there is none."""


@dataclass(frozen=True)
class Tie:
    """A length penalty at which two hypotheses score the same."""

    penalty: float
    below: int
    """The index of the one that is ahead at a smaller penalty."""
    above: int
    """The index of the one that is ahead at a larger one."""
    score: float


@dataclass(frozen=True)
class Lead:
    """The length penalties at which one hypothesis is the first of all."""

    start: float
    end: float
    index: int


def by_gnmt(length: int) -> float:
    """(5 + length) / 6, as Wu et al. 2016 have it."""
    return (5 + length) / 6


def by_length(length: int) -> float:
    """The length itself."""
    return float(length)


def score_at(parts: Parts, penalty: float, base: Base = by_gnmt) -> float:
    """The score of a hypothesis at a length penalty: log p / base(length) ** penalty + coverage."""
    return float(parts.ranked_by / base(parts.length) ** penalty + parts.coverage)


def ranking(hypotheses: Sequence[Parts], penalty: float, base: Base = by_gnmt) -> list[int]:
    """Indices of hypotheses by their score at a length penalty, best first."""
    scores = [score_at(each, penalty, base) for each in hypotheses]
    return sorted(range(len(scores)), key=lambda i: -scores[i])


def ties(
    hypotheses: Sequence[Parts],
    base: Base = by_gnmt,
    between: tuple[float, float] = PENALTIES,
) -> list[Tie]:
    """Every penalty at which two hypotheses swap their places, smallest first.

    Without coverage it is ln(s2 / s1) / ln(base2 / base1), s being log-probabilities.
    """
    result = []
    for (i, one), (j, other) in combinations(enumerate(hypotheses), 2):
        for penalty in _crossings(one, other, base, between):
            before = _lead(one, other, penalty - 1e-6, base)
            below, above = (i, j) if before > 0 else (j, i)
            result.append(Tie(penalty, below, above, score_at(one, penalty, base)))
    return sorted(result, key=lambda tie: tie.penalty)


def leads(
    hypotheses: Sequence[Parts],
    base: Base = by_gnmt,
    between: tuple[float, float] = PENALTIES,
) -> list[Lead]:
    """The hypotheses that are first of all, from the smallest penalty to the largest."""
    low, high = between
    edges = [low, *(tie.penalty for tie in ties(hypotheses, base, between)), high]
    result: list[Lead] = []
    for start, end in pairwise(edges):
        if end <= start:
            continue
        index = ranking(hypotheses, (start + end) / 2, base)[0]
        if result and result[-1].index == index:
            start = result.pop().start
        result.append(Lead(start, end, index))
    return result


def _lead(one: Parts, other: Parts, penalty: float, base: Base) -> float:
    """The lead of one over the other, in units of the score."""
    return score_at(one, penalty, base) - score_at(other, penalty, base)


def _crossings(one: Parts, other: Parts, base: Base, between: tuple[float, float]) -> list[float]:
    """The penalties, one or two, at which the lead changes its sign."""
    if one.coverage == other.coverage:
        tie = _closed_form(one, other, base)
        return [tie] if tie is not None and between[0] < tie < between[1] else []
    edges = [between[0], *_turns(one, other, base, between), between[1]]
    return [
        _bisected(one, other, base, edge)
        for edge in pairwise(edges)
        if _lead(one, other, edge[0], base) * _lead(one, other, edge[1], base) < 0
    ]


def _closed_form(one: Parts, other: Parts, base: Base) -> float | None:
    """The one penalty at which both score the same; None: there is none."""
    lengths = math.log(base(other.length) / base(one.length))
    if not lengths or one.ranked_by >= 0 or other.ranked_by >= 0:
        return None
    return math.log(other.ranked_by / one.ranked_by) / lengths


def _turns(one: Parts, other: Parts, base: Base, between: tuple[float, float]) -> list[float]:
    """The penalty at which the lead is largest or smallest: it has one tie on each side at most."""
    slopes = [each.ranked_by * math.log(base(each.length)) for each in (one, other)]
    lengths = math.log(base(other.length) / base(one.length))
    if not lengths or not slopes[0] or slopes[1] / slopes[0] <= 0:
        return []
    turn = math.log(slopes[1] / slopes[0]) / lengths
    return [turn] if between[0] < turn < between[1] else []


def _bisected(one: Parts, other: Parts, base: Base, edge: tuple[float, float]) -> float:
    low, high = edge
    is_ahead = _lead(one, other, low, base) > 0
    for _ in range(N_HALVINGS):
        middle = (low + high) / 2
        if (_lead(one, other, middle, base) > 0) == is_ahead:
            low = middle
        else:
            high = middle
    return (low + high) / 2
