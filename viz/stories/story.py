"""A story: scenes in an order, each a screen and what is said beside it. Data only."""

from dataclasses import dataclass, field, replace
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from pkgutil import iter_modules
from typing import Literal
from urllib.parse import parse_qsl, unquote, urlsplit

from transformer.analysis.reading import Reading, merges_unasked
from transformer.checkpoint import About
from transformer.files.foreign_text import clean, some_of
from transformer.refusal import Refusal
from viz.lessons.exercise import NO_EXERCISE, Exercise
from viz.screen import FIRST_PAGE, Screen, parse, unread

# A story: scenes in an order, each a screen and what is said beside it. Data only.

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
    live: bool = False
    """In a saved file its reader types, and an engine in their browser answers."""


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
    learned: str = ""
    """The line of Markdown with which a lesson ends: what its reader knows by then."""
    measures: tuple[Scene, ...] = ()
    """Questions before and after a lesson, the same for everybody: each a task on its screen."""
    names: tuple[NameInFile, ...] = field(default=(), compare=False, repr=False)
    """In the file that was read, which may have been changed since."""

    def screen_of(self, number: int) -> Screen:
        """The screen of a scene, counted from 1, as the story's; of the nearest there is."""
        number = self.nearest(number)
        return replace(self.scenes[number - 1].screen, story=self.name, scene=number)

    def nearest(self, number: int) -> int:
        """A scene's number that is there."""
        return min(max(number, 1), len(self.scenes))


# The address of a scene, as somebody copied it from a browser or wrote it by hand -> a Screen.

PAGES = Path(__file__).parents[1] / "pages"


@dataclass(frozen=True)
class Destination:
    """A screen and the server that an address names."""

    screen: Screen
    """The screen, outside any story, whatever the address says."""
    host: str = ""
    """The server that it names, where that cannot be a person's own machine."""


@cache
def page_names() -> frozenset[str]:
    """The app's pages: the modules of their folder, which nothing below them may import."""
    return frozenset(module.name for module in iter_modules([str(PAGES)]))


def read_address(address: str) -> Destination:
    """Return the screen of an address. Raises ValueError, in a clause, where it is none of ours."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError as error:
        raise ValueError(f"{clean(address, 60)} is not an address") from error
    page = unquote(parts.path.rpartition("/")[2]) or FIRST_PAGE
    if page not in page_names():
        names = ", ".join(sorted(page_names()))
        raise ValueError(f"the app has no page {clean(page, 40)}, only {names}")
    entries = {"page": page, **dict(parse_qsl(parts.query, keep_blank_values=True))}
    if wrong := unread(entries):
        raise ValueError(f"the screen says {some_of(wrong, 3)}, which cannot be read")
    return Destination(bare(parse(entries)), "" if _is_own(host) else host)


def _is_own(host: str) -> bool:
    """Tell whether an address that somebody copied from their own app may name this host."""
    if host in ("", "localhost"):
        return True
    try:
        return ip_address(host).is_private
    except ValueError:
        return False
