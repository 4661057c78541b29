"""The roles that heads play, said only where many sentences bear it out, and which heads are
alike.
"""

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from transformer.corpus.measured import ABOVE, CHANCE, metrics, roles, with_chance
from transformer.corpus.shipped import Place, ShippedSurvey
from transformer.corpus.surveyed import Estimate, HeadSummary, Survey
from transformer.field_docs import fields_in_help
from transformer.inputs import checks, of_class
from transformer.recording.data import Numbering

# labels(): the roles that heads play, said only where many sentences bear it out.
#
# A head has a label where three things hold. Of what chance leaves of a role, the head gains a
# stated share, or as much as chance has where that is more, and so it does at the lower bound of
# the interval over sentences. A relation between words takes the place of a role; there the best
# fixed offset takes that of chance. And p, that it gains no more than this share, stays below .05
# after correction for all tests, of each role with each head (Holm 1979).

ALPHA = 0.05
FEWEST = 20
"""Sentences below which nothing is said: intervals of fewer are too narrow."""
OF_RELATION = 0.1
"""The share of arcs, of those that the best offset leaves, which a head gains: Voita et al. (2019)
ask for ten points."""


@fields_in_help
@dataclass(frozen=True)
class Label:
    """A role that a head plays."""

    role: str
    """The name of the metric, role or relation."""
    title: str
    """The role in words, for people."""
    score: float
    """The mean weight on the role's keys, or what else it is; of a relation the share of arcs."""
    low: float
    """Between low and high lie 95 % of the scores of resampled sentences."""
    high: float
    """See low."""
    baseline: float
    """The score by chance, of a head that looks at all keys alike; of a relation the share of arcs
    that have the most frequent offset."""
    p: float
    """The probability to gain so much without the role, corrected for all tests (Holm)."""
    n_sentences: int
    """The sentences that say something of the role."""


@dataclass(frozen=True)
class _Test:
    place: Place
    label: Label
    is_clear: bool
    """True: the lower bound is above what a label needs."""


@checks(survey=of_class(Survey, "a survey, as survey(checkpoint, sentences) makes it"))
def labels(survey: Survey) -> dict[Place, tuple[Label, ...]]:
    """Name the roles that heads play, where the sentences of a survey bear them out.

    survey: what `survey(checkpoint, sentences)` returns. Of fewer than 20 sentences no head has a
        label, whatever it does, and a warning says so.

    Returns a dict, (kind, layer, head), counted from 0, -> the head's `Label`s, the clearest first;
    an empty tuple where nothing is clear. A label needs a gain over chance whose interval over
    sentences clears a threshold, at p < .05 over all heads and roles (corrected after Holm 1979).
    Raises InputError for what is no survey.

    >>> labels(survey("en-de", sentences))["cross", 0, 6]  # doctest: +SKIP
    """
    if survey.heads and survey.n_sentences < FEWEST:
        warnings.warn(
            f"The survey has {survey.n_sentences} sentences: below {FEWEST} no head has a label.",
            stacklevel=3,  # at the caller's line, above `checks`
        )
    return labelled(survey)


def labelled(survey: Survey) -> dict[Place, tuple[Label, ...]]:
    """The same without a warning, for what says by itself how many sentences there are."""
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


# Likeness of heads: distances between their footprints, and a map of them in a plane.
#
# The distance is the root of the Jensen-Shannon divergence in nats, which is a metric (Endres and
# Schindelin 2003); Clark et al. (2019) give the divergence itself to the map. Footprints of two
# kinds of attention have other bins, so that heads are compared within a kind.

MOST_STEPS, LEAST_GAIN = 300, 1e-7
"""Steps of the map at most, and the share of its error below which another one gains nothing."""


def distances(heads: Sequence[HeadSummary]) -> Tensor:
    """The distances of N heads of one kind: float64 [N, N], between 0 and sqrt(log 2) = .833.

    Raises ValueError for footprints of different lengths.
    """
    shares = torch.tensor([each.footprint for each in heads], dtype=torch.float64)
    shares = shares / shares.sum(-1, keepdim=True).clamp_min(1e-300)
    first, second = shares[:, None], shares[None]
    middle = (first + second) / 2
    to_middle = torch.special.xlogy(first, first / middle.clamp_min(1e-300)).sum(-1)
    # What rounding leaves of 0 would be 1e-8 in its root.
    divergence = ((to_middle + to_middle.T) / 2).clamp_min(0)
    divergence[divergence < 1e-14] = 0
    return divergence.sqrt()


def layout(distances: Tensor) -> tuple[Tensor, float]:
    """Places [N, 2] whose distances are as near to these [N, N] as a plane allows, and the stress.

    Classical scaling begins (Torgerson 1952), and SMACOF improves it (de Leeuw 1977). The stress is
    Kruskal's first one (1964): the root of the squared errors over the squared distances; 0 where
    all distances are true. The axes are the principal ones; each one's largest place is positive.
    """
    n = len(distances)
    places = _classical(distances)
    error = _error(places, distances)
    for _ in range(MOST_STEPS):
        between = torch.cdist(places, places)
        ratio = torch.where(between > 0, distances / between.clamp_min(1e-300), 0.0)
        matrix = -ratio
        matrix.diagonal().copy_(ratio.sum(-1) - ratio.diagonal())
        places = matrix @ places / max(1, n)
        now = _error(places, distances)
        if error - now <= LEAST_GAIN * max(error, 1e-300):
            break
        error = now
    whole = float((distances**2).sum())
    stress: float = (_error(places, distances) / whole) ** 0.5 if whole else 0.0
    return _turned(places), stress


def _classical(distances: Tensor) -> Tensor:
    n = len(distances)
    centre = torch.eye(n, dtype=distances.dtype) - 1 / max(1, n)
    values, vectors = torch.linalg.eigh(-0.5 * centre @ distances**2 @ centre)
    places = torch.zeros(n, 2, dtype=distances.dtype)
    principal = (vectors * values.clamp_min(0).sqrt()).flip(1)[:, :2]
    places[:, : principal.size(1)] = principal
    return places


def _error(places: Tensor, distances: Tensor) -> float:
    return float(((torch.cdist(places, places) - distances) ** 2).sum())


def _turned(places: Tensor) -> Tensor:
    """Turn places so that most of them lies along the first axis, always the same way round."""
    centred = places - places.mean(0)
    _, _, axes = torch.linalg.svd(centred, full_matrices=False)
    turned = torch.zeros_like(places)
    turned[:, : len(axes)] = centred @ axes.T
    largest = turned.gather(0, turned.abs().argmax(0, keepdim=True))
    return turned * torch.where(largest < 0, -1.0, 1.0)


# The heads of a checkpoint over its survey: what each does, and which are alike.


@dataclass(frozen=True, eq=False)
class Likeness:
    """The heads of one kind in a plane, by how unlike their footprints are."""

    places: NDArray[np.float64]
    """[N, 2], their distances in a plane, as far as there is room for them."""
    stress: float
    """The error of the plane: 0 where every distance in it is true."""


@dataclass(frozen=True, eq=False)
class Atlas:
    """A survey, and what is made of it once for all who look."""

    shipped: ShippedSurvey
    numbering: Numbering = ()
    """The numbering of a recording of the checkpoint: a survey counts all layers from 0."""

    def layer(self, place: Place) -> int:
        """The model's own number of a head's layer."""
        numbers = dict(self.numbering).get(place[0], ())
        return numbers[place[1]] if place[1] < len(numbers) else place[1]

    @property
    def survey(self) -> Survey:
        return self.shipped.survey

    @cached_property
    def heads(self) -> Mapping[Place, HeadSummary]:
        """Kind, layer and head -> what it does, in the order of the model."""
        return {place_of(each): each for each in self.survey.heads}

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of attention, in the order of the model."""
        return tuple(dict.fromkeys(kind for kind, _, _ in self.heads))

    @cached_property
    def labels(self) -> Mapping[Place, tuple[Label, ...]]:
        """The labels of each head that has any, the surest first."""
        return labelled(self.survey)

    def of_kind(self, kind: str) -> list[HeadSummary]:
        """The heads of a kind, in the order of the model."""
        return [each for each in self.survey.heads if each.kind == kind]

    def label(self, place: Place) -> Label | None:
        """The label that names a head; None: it has none."""
        return next(iter(self.labels.get(place, ())), None)

    def number(self, place: Place, name: str) -> Estimate | None:
        """A metric, the score of a role, or what the head is worth; None: it is not known."""
        if name == "worth":
            return self.shipped.worth.get(place)
        return self.heads[place].numbers.get(name)

    def numbers(self, kind: str) -> dict[str, str]:
        """Name -> title of the numbers that heads of a kind have."""
        there = {name for each in self.of_kind(kind) for name in each.numbers}
        titles = {name: title_of(name) for name in (*metrics(), *roles()) if name in there}
        has_worth = any(place[0] == kind for place in self.shipped.worth)
        return ({"worth": title_of("worth")} if has_worth else {}) | titles

    @cached_property
    def distances(self) -> Mapping[str, NDArray[np.float64]]:
        """Kind -> how unlike the footprints of its heads are, [N, N]: those of two kinds have other
        bins.
        """
        return {kind: distances(self.of_kind(kind)).numpy() for kind in self.kinds}

    @cached_property
    def likeness(self) -> Mapping[str, Likeness]:
        """Kind -> its heads in a plane; a map has it, and no page of a head waits for it."""
        return {kind: _likeness(each) for kind, each in self.distances.items()}

    def relatives(self, place: Place, most: int) -> list[tuple[Place, float]]:
        """The heads of its kind whose footprints are most like its own, with their distances."""
        heads = [place_of(each) for each in self.of_kind(place[0])]
        row = self.distances[place[0]][heads.index(place)]
        near = sorted(zip(heads, row.tolist(), strict=True), key=lambda each: each[1])
        return [each for each in near if each[0] != place][:most]


def _likeness(between: NDArray[np.float64]) -> Likeness:
    places, stress = layout(torch.from_numpy(between))
    return Likeness(places.numpy(), float(stress))


def title_of(name: str) -> str:
    """The title of a number of a head."""
    if name == "worth":
        return "Worth"
    every = metrics() | roles()
    return every[name].title


def place_of(head: HeadSummary) -> Place:
    """Its kind, layer and number."""
    return head.kind, head.layer, head.head
