"""Words as data: lines of text, parts of which stand for a number. Painters make all else of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

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
