"""The heads of a checkpoint over its survey: what each does, and which are alike."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray

from transformer.corpus.labels import Label, labels
from transformer.corpus.likeness import distances, layout
from transformer.corpus.measured import metrics, roles
from transformer.corpus.shipped import Place, ShippedSurvey
from transformer.corpus.surveyed import Estimate, HeadSummary, Survey
from transformer.recording.data import Numbering


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
        return labels(self.survey)

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
