"""A chart as data: two axes and the marks between them, without colours of a theme."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Dash = Literal["solid", "dash", "dot"]
Ink = int | Literal["text", "dim", "accent"]
"""A colour of the theme by its name, or one of the series by its number."""


@dataclass(frozen=True)
class Axis:
    """One side of a chart."""

    title: str
    is_log: bool = False
    ends: tuple[float, float] | None = None
    """Values at both ends; None: those of the data, with a little room."""
    from_zero: bool = False
    has_grid: bool = False
    format: str = ""
    """Of the numbers beside it and under the pointer, as in a format string: "+d"."""
    hover: str = ""
    """Above the values of all curves at a place, with {x}: "step {x:,d}"."""


@dataclass(frozen=True)
class Curve:
    """Points in succession: joined by a line, marked, or both."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    ink: Ink
    hover: str
    """A value with its unit, with {x}, {y} and {count}: "{y:.4f} nats"."""
    width: float = 2.0
    """Of the line, in pixels; 0: none is drawn."""
    dash: Dash | None = None
    """None: solid on a screen; on paper curves without one differ by their turn."""
    point: float = 0.0
    """Pixels across a point's mark; 0: points have none."""
    counts: Sequence[int] = ()
    """How many values each point is the mean of."""


@dataclass(frozen=True)
class Point:
    """A place that is marked, with words beside it."""

    x: float
    y: float
    text: str
    side: Literal["left", "right"] = "right"
    """Where the words stand."""


@dataclass(frozen=True)
class Rule:
    """A level line from side to side, with words above its left end."""

    y: float
    text: str


Mark = Curve | Point | Rule


@dataclass(frozen=True)
class Chart:
    """Whatever a painter needs for a screen or a sheet."""

    name: str
    """What it is of, for tests in a browser."""
    title: str
    """The words that stand out, followed at once by `more`."""
    more: str
    x: Axis
    y: Axis
    marks: Sequence[Mark]
    height: int
    """Pixels on a screen."""

    def curves(self) -> list[Curve]:
        """The curves alone, in the order of the legend."""
        return [mark for mark in self.marks if isinstance(mark, Curve)]
