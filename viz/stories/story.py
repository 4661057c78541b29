"""A story: scenes in an order, each a screen and what is said beside it. Data only."""

from dataclasses import dataclass, field, replace
from typing import Literal

from transformer.analysis.reading import Reading, merges_unasked
from transformer.checkpoint import About
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
    """The row, counted from 0 as the scene's picture shows them: by words, or by pieces."""
    key: int
    """The column, counted so, too."""
    row: str
    """The row's word, without ▁: in cross-attention the one written, elsewhere the one read."""
    column: str
    """The column's word."""
    least: float
    """The weight is at least this, and less than this and SPREAD."""


@dataclass(frozen=True)
class Question:
    """The question where one row looks most. Its truth is computed from the sentence on screen."""

    kind: str
    layer: int
    head: int
    query: int
    """The row, counted as those of facts."""
    words: str = ""
    """Words of its own; empty: those of every question."""


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
    """The model's output, where the words depend on it; empty: any output will do."""
    exercise: Exercise = NO_EXERCISE
    """The exercise and the pictures of a lesson."""


def reading_of(scene: Scene, about: About) -> Reading:
    """Read attention as the scene's pictures do, by words or by pieces."""
    tokens = scene.screen.tokens
    return Reading(words=merges_unasked(about) if tokens is None else tokens == "words")


@dataclass(frozen=True)
class NameInFile:
    """A name in a line of a story's file that may be missing where the story is told."""

    line: int
    """Counted from 1."""
    sort: Literal["checkpoint", "host"]
    name: str


@dataclass(frozen=True)
class Story:
    """The content of one Markdown file."""

    name: str
    """The file's name without ".md" where it is a shipped story, else its path."""
    title: str
    kind: Kind
    checkpoint: str | None = None
    """The checkpoint of scenes whose address names none; their `screen` names it."""
    introduction: str = ""
    """Markdown."""
    scenes: tuple[Scene, ...] = ()
    names: tuple[NameInFile, ...] = field(default=(), compare=False, repr=False)
    """In the file that was read, which may have been changed since."""

    def screen_of(self, number: int) -> Screen:
        """The screen of a scene, counted from 1, as the story's; of the nearest there is."""
        number = self.nearest(number)
        return replace(self.scenes[number - 1].screen, story=self.name, scene=number)

    def nearest(self, number: int) -> int:
        """A scene's number that is there."""
        return min(max(number, 1), len(self.scenes))
