"""Whatever a page shows: a frozen value that painters make for a screen, for paper, or as text;
and words as data.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from viz.exhibits.chart import Chart
from viz.exhibits.table import Table, Tables

# Words as data: lines of text, parts of which stand for a number. Painters make all else of it.

Role = Literal["", "gone", "new"]
"""Nothing of note; a word that another line lacks; a word that came in its place."""


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a line, a space away from the next one. Its text is plain; painters escape it."""

    text: str
    small: str = ""
    """Its number as it stands below it."""
    value: float | None = None
    """The number that it stands for."""
    measure: str = ""
    """The name of its number, with its unit."""
    role: Role = ""
    origin: Mapping[str, str] = field(default_factory=dict)
    """Further columns of a file: the tokens of the text that it is made of."""

    @property
    def plain(self) -> str:
        """Its text, and in brackets what stands below it."""
        return f"{self.text} ({self.small})" if self.small else self.text


@dataclass(frozen=True, slots=True)
class Line:
    """A line, which runs as its first letter does: to the right or to the left."""

    spans: Sequence[Span]
    title: str = ""

    @property
    def measure(self) -> str:
        """The name of the numbers below its words; empty where none stand there."""
        return next((each.measure for each in self.spans if each.small), "")

    @property
    def plain(self) -> str:
        """The line as it is read out."""
        text = " ".join(each.plain for each in self.spans)
        return f"{self.title}: {text}" if self.title else text


@dataclass(frozen=True, slots=True)
class Words:
    """Lines below each other: all have a title, or none has one."""

    lines: Sequence[Line]
    foot: Sequence[Span] = ()
    """A line below, in small type."""
    brief: str = ""
    """The same for those who hear it come: only what is new; empty: all of it is."""

    @property
    def plain(self) -> str:
        """All of it as text, for those who do not see it."""
        text = "; ".join(each.plain for each in self.lines)
        return f"{text.removesuffix('.')}. {Line(self.foot).plain}" if self.foot else text


# Whatever a page shows: a frozen value that painters make for a screen, for paper, or as text.

About = Literal["text", "checkpoint", "app"]
Actions = Mapping[str, Callable[[Any], None]]
"""Actions for what the browser tells, by its name."""
OF_A_SERVER = frozenset({"asks", "cuts", "edits", "changes", "branches"})
"""State of pictures by which a server is asked for something: a file and a lesson have none."""


@dataclass(frozen=True, eq=False)
class PictureAt:
    """A picture of our browser components, with the state that it is in."""

    picture: Any
    """A `Picture` of an answer, or a `SnapshotPlayer`, which is one of a training."""
    over: Mapping[str, Any] = field(default_factory=dict)
    """Named arguments of the picture's `data` and `says`."""
    of_text: Mapping[str, Any] = field(default_factory=dict)
    """Further ones that may fit no other text: which words are pinned, which cell is chosen."""
    typed: Any = None
    """The picture that follows what is typed; None: it waits until that is entered."""
    on: Actions = field(default_factory=dict)
    """Actions where it is touched."""
    key: str = ""
    """The name by which the browser knows it; empty: its place on the page."""
    payload: Callable[[], bytes] | None = None
    """The packed numbers, where they are of more than an answer; None: the picture packs them."""

    @property
    def state(self) -> dict[str, Any]:
        """All that moves over the payload."""
        return {**self.over, **self.of_text}

    @property
    def still(self) -> "PictureAt":
        """The same where no server is told of anything."""
        over = {name: it for name, it in self.over.items() if name not in OF_A_SERVER}
        return replace(self, over=over, typed=None, on={}, key="")


Content = PictureAt | Chart | Table | Tables | Words


@dataclass(frozen=True, eq=False)
class Exhibit:
    """One thing that a page shows. Pages declare theirs by name, the main one first."""

    title: str
    content: Content
    says: str = ""
    """The alternative text: a sentence; empty where the content says it itself, as words do and a
    picture of an answer."""
    about: About = "text"
    """"text": what the model made of the text; "checkpoint": only the checkpoint's own files or
    training; "app": neither."""
    is_main: bool = True
    """It stands where everybody looks; others are below: no scene of a story has them, nor
    a wall."""
    can_be_made_again: bool = True
    """Its address is enough to make it again; a button or a clock made others."""
    small: Content | None = None
    """The same where the screen has less room for it than paper."""
    note: str = ""
    """The difference from what was asked for: a sentence above it on a screen."""
    pane: Any = None
    """The pane that it is of: that of a picture of an answer, or another one than the page's."""

    @property
    def still(self) -> "Exhibit":
        """The same where it is looked at and not worked with."""
        if not isinstance(self.content, PictureAt):
            return self
        return replace(self, content=self.content.still)
