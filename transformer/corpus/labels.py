"""labels(): the roles that heads play, said only where many sentences bear it out.

A head has a label where three things hold. Of what chance leaves of a role, the head gains a stated
share, or as much as chance has where that is more, and so it does at the lower bound of the
interval over sentences. A relation between words takes the place of a role; there the best fixed
offset takes that of chance. And p, that it gains no more than this share, stays below .05 after
correction for all tests, of each role with each head (Holm 1979).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from transformer.corpus.measured import ABOVE, CHANCE, metrics, roles, with_chance
from transformer.corpus.shipped import Place
from transformer.corpus.surveyed import Estimate, HeadSummary, Survey

ALPHA = 0.05
FEWEST = 20
"""Sentences below which nothing is said: intervals of fewer are too narrow."""
OF_RELATION = 0.1
"""The share of arcs, of those that the best offset leaves, which a head gains: Voita et al. (2019)
ask for ten points."""


@dataclass(frozen=True)
class Label:
    """A role that a head plays."""

    role: str
    """The name of the metric, role or relation."""
    title: str
    score: float
    """The mean weight on the role's keys, or what else it is; of a relation the share of arcs."""
    low: float
    """Between low and high lie 95 % of the scores of resampled sentences."""
    high: float
    baseline: float
    """The score by chance, of a head that looks at all keys alike; of a relation the share of arcs
    that have the most frequent offset."""
    p: float
    """The probability to gain so much without the role, corrected for all tests (Holm)."""
    n_sentences: int


@dataclass(frozen=True)
class _Test:
    place: Place
    label: Label
    is_clear: bool
    """True: the lower bound is above what a label needs."""


def labels(survey: Survey) -> dict[Place, tuple[Label, ...]]:
    """The labels of each head, the clearest first; a head that does nothing so clear has none."""
    tests = [test for head in survey.heads for test in _tests_of(head)]
    result: dict[Place, list[Label]] = {}
    for head in survey.heads:
        result[head.kind, head.layer, head.head] = []
    ps = [test.label.p for test in tests] + [1.0] * _n_missing(survey)
    for test, p in zip(tests, holm(ps), strict=False):
        if test.is_clear and p < ALPHA:
            result[test.place].append(replace(test.label, p=p))
    return {place: tuple(sorted(some, key=_clearest)) for place, some in result.items()}


def _n_missing(survey: Survey) -> int:
    """Count the tests of relations that a survey leaves out, as places alone do better."""
    relations: dict[str, set[str]] = {}
    for head in survey.heads:
        relations.setdefault(head.kind, set()).update(head.syntax)
    return sum(len(relations[head.kind]) - len(head.syntax) for head in survey.heads)


def _clearest(label: Label) -> float:
    return -(label.score - label.baseline) / (1 - label.baseline)


@dataclass(frozen=True)
class _Claim:
    """The gain of a head in one role or relation, before it is tested."""

    name: str
    title: str
    score: Estimate
    baseline: float
    gain: Estimate
    """The number that is held against `least`."""
    least: float


def _tests_of(head: HeadSummary) -> Iterator[_Test]:
    """All tests of a head: of each claim whose interval is known, over enough sentences."""
    for of in (*_roles(head), *_relations(head)):
        score, gain = of.score, of.gain
        if gain.n_sentences < FEWEST or gain.low is None or score.low is None or score.high is None:
            continue
        label = Label(
            of.name,
            of.title,
            score.mean,
            score.low,
            score.high,
            of.baseline,
            tail(gain, of.least),
            gain.n_sentences,
        )
        yield _Test((head.kind, head.layer, head.head), label, gain.low > of.least)


def _roles(head: HeadSummary) -> Iterator[_Claim]:
    for name in with_chance():
        declared = roles().get(name) or metrics()[name]
        least = declared.least
        score, chance, above = (head.numbers.get(name + end) for end in ("", CHANCE, ABOVE))
        if least is not None and score is not None and chance is not None and above is not None:
            # In short texts chance has so much that random weights gain a fifth of the rest.
            yield _Claim(name, declared.title, score, chance.mean, above, max(least, chance.mean))


def _relations(head: HeadSummary) -> Iterator[_Claim]:
    for name, of in head.syntax.items():
        if of.by_offset < 1:
            least = of.by_offset + OF_RELATION * (1 - of.by_offset)
            share = Estimate(of.accuracy, of.low, of.high, of.n_sentences)
            yield _Claim(name, f"{name}, {of.direction}", share, of.by_offset, share, least)


def tail(estimate: Estimate, least: float) -> float:
    """The probability of a mean as large as this where the true one is `least`.

    By the normal distribution, whose standard error is the interval's width over 2 * 1.96. 1 where
    there is no interval.
    """
    if estimate.low is None or estimate.high is None:
        return 1.0
    error = (estimate.high - estimate.low) / (2 * 1.959964)
    if error <= 0:
        return 0.0 if estimate.mean > least else 1.0
    return 0.5 * math.erfc((estimate.mean - least) / error / math.sqrt(2))


def holm(ps: Sequence[float]) -> list[float]:
    """Correct probabilities of tests for their number (Holm 1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    result, largest = [0.0] * len(ps), 0.0
    for rank, at in enumerate(sorted(range(len(ps)), key=lambda at: ps[at])):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[at]))
        result[at] = largest
    return result


def share_labelled(of: Mapping[Place, Sequence[Label]]) -> float:
    """The share of heads that have a label."""
    return sum(map(bool, of.values())) / max(1, len(of))
