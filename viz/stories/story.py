"""A story: scenes in an order, each a screen and what is said beside it. Data only."""

from dataclasses import dataclass, field, replace
from typing import Literal

from transformer.refusal import Refusal
from viz.lessons.exercise import NO_EXERCISE, Exercise
from viz.screen import Screen

Kind = Literal["talk", "lesson", "gallery"]
KINDS: tuple[Kind, ...] = ("talk", "lesson", "gallery")
SPREAD = 0.06
"""A fact's weight is less than its `least` and this."""


class StoryError(Refusal):
    """A story that cannot be read; the message names the file and the line."""


def bare(screen: Screen) -> Screen:
    """A screen by itself, of no story."""
    return replace(screen, story=None, scene=1, role=None, room=None, guess=None, draft=None)


@dataclass(frozen=True)
class Fact:
    """One weight that a scene states: the largest of its row."""

    kind: str
    layer: int
    head: int
    query: int
    """Position of the row."""
    key: int
    """Position of the column."""
    row: str
    """The row's word, without ▁: in cross-attention the one written, elsewhere the one read."""
    column: str
    """The column's word."""
    least: float
    """The weight is at least this, and less than this and SPREAD."""


@dataclass(frozen=True)
class Question:
    """Which key will this row look at? The truth is computed from the sentence on screen."""

    kind: str
    layer: int
    head: int
    query: int
    words: str = ""
    """How it is asked; empty: as every question is."""


@dataclass(frozen=True)
class Scene:
    """A screen of the live product, with words."""

    heading: str
    text: str
    """Markdown."""
    screen: Screen
    facts: tuple[Fact, ...] = ()
    question: Question | None = None
    notes: str = ""
    """The speaker's, Markdown."""
    writes: str = ""
    """What the model writes, where the words depend on it; empty: nothing is said of that."""
    exercise: Exercise = NO_EXERCISE
    """What a lesson asks and draws here."""


@dataclass(frozen=True)
class Named:
    """What a line of a story's file names that may be missing where the story is told."""

    line: int
    """Counted from 1."""
    sort: Literal["checkpoint", "host"]
    name: str


@dataclass(frozen=True)
class Story:
    """What one Markdown file says."""

    name: str
    """Of a shipped one its file's without ".md", else its path."""
    title: str
    kind: Kind
    checkpoint: str | None = None
    """Of the scenes whose address names none; their `screen` names it."""
    introduction: str = ""
    """Markdown."""
    scenes: tuple[Scene, ...] = ()
    named: tuple[Named, ...] = field(default=(), compare=False, repr=False)
    """In the file that was read, which may have been changed since."""

    def screen_of(self, number: int) -> Screen:
        """The screen of a scene, counted from 1, as the story's; of the nearest there is."""
        number = self.nearest(number)
        return replace(self.scenes[number - 1].screen, story=self.name, scene=number)

    def nearest(self, number: int) -> int:
        """A scene's number that is there."""
        return min(max(number, 1), len(self.scenes))
