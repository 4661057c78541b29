"""A chart as data: two axes and the marks between them, without colours of a theme."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from transformer.token import Token
from viz.exhibits.shading import Shading
from viz.labels import worded

Dash = Literal["solid", "dash", "dot"] | tuple[int, int]
"""A name, or pixels that are drawn and left out."""
Name = Literal["text", "dim", "accent", "surface", "masked", "below", "above"]
Ink = Name | int | tuple[Literal["head", "mask"], int]
"""A colour of the theme by its name, "below" and "above" being those of differences; one of the
series by its number; that of a head, or of a state of a mask."""
Numbers = Sequence[float] | NDArray[Any]


@dataclass(frozen=True)
class Axis:
    """One side of a chart."""

    title: str
    """A line break begins another line."""
    is_log: bool = False
    ends: tuple[float, float] | None = None
    """Values at both ends; None: those of the data, with a little room."""
    from_zero: bool = False
    has_grid: bool = False
    format: str = ""
    """The numbers beside it and under the pointer, as a format string has them: "+d"."""
    hover: str = ""
    """Above the values of all curves at a place, with {x}: "step {x:,d}"."""
    labels: Sequence[Token | str] = ()
    """Whatever stands at 0, 1, 2, ...; none: numbers."""
    origins: Sequence[Mapping[str, str]] = ()
    """Further columns of a file for each label: the token of the text that it is."""
    most_labels: int = 64
    """The most that are written: of more every second, third, ...; the pointer finds all."""
    is_labelled: bool = True
    """Labels and numbers are written; else they are under the pointer alone."""
    ticks: Sequence[tuple[float, str]] = ()
    """Values with their texts; none: round numbers."""

    @property
    def in_words(self) -> "Axis":
        """The same with its tokens named as in pictures of words."""
        names = [each if isinstance(each, str) else worded(each) for each in self.labels]
        return replace(self, labels=names)


@dataclass(frozen=True, eq=False)
class Curve:
    """Points in succession: joined by a line, marked, or both. NaN makes a gap."""

    name: str
    x: Numbers
    y: Numbers
    ink: Ink
    hover: str = ""
    """A value with its unit, with {x}, {y} and {0}, {1}, ... of `more`: "{y:.4f} nats"; empty: the
    pointer finds none."""
    width: float = 2.0
    """Pixels of the line; 0: none is drawn."""
    dash: Dash | None = None
    """None: solid on a screen; on paper curves without one differ by their turn."""
    point: float = 0.0
    """Pixels across a point's mark; 0: points have none."""
    is_ring: bool = False
    """Marks of points are hollow."""
    sizes: Sequence[float] = ()
    """Pixels across the mark of each point, in place of `point`."""
    names: Sequence[str] = ()
    """The name of each point: a column of a file."""
    more: Sequence[Sequence[Any]] = ()
    """Further values of each point."""
    fill: Literal["", "before", "stack"] = ""
    """The area that is filled: down to the curve before, or to what it is added to."""
    opacity: float = 1.0
    is_in_legend: bool = True


@dataclass(frozen=True, eq=False)
class Bars:
    """A bar at each place, from 0; several such marks stand beside each other."""

    name: str
    at: Numbers
    values: Numbers
    inks: Sequence[Ink]
    """One for all, or one each."""
    hover: str
    """The same as that of a curve: {x} is across, {y} upright."""
    is_level: bool = False
    """They lie one below the other, the first on top."""
    width: float = 0.6
    """Share of the distance between two places."""
    texts: Sequence[str] = ()
    """Behind each bar's end."""
    more: Sequence[Sequence[Any]] = ()


@dataclass(frozen=True, eq=False)
class Grid:
    """Cells, each shaded by its number: [R, C], row 0 on top; NaN is left empty."""

    values: NDArray[Any]
    shading: Shading
    hover: str = "{y} → {x}: {z:.4f}"
    """With {x} of its column, {y} of its row, and {z}, its number."""
    rows: tuple[float, float] = (0.0, 1.0)
    columns: tuple[float, float] = (0.0, 1.0)
    """The place of the first one, and the distance to the next."""
    more: NDArray[Any] | None = None
    """Further values of each cell: [R, C, N]."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells of one colour, where they are: bool [R, C]."""

    name: str
    where: NDArray[np.bool_]
    ink: Ink
    hover: str
    has_gaps: bool = False
    """They stand apart."""


@dataclass(frozen=True)
class Point:
    """A place that is marked, with words beside it."""

    x: float
    y: float
    text: str
    side: Literal["left", "right"] = "right"
    """The side of the words."""


@dataclass(frozen=True)
class Rule:
    """An upright line at a value of x, with words beside it.

    A level one is a Curve with its name in the legend: words at its side would lie on the others.
    """

    at: float
    text: str = ""
    ink: Ink = "dim"
    dash: Dash = "dot"
    place: Literal["top", "bottom"] = "top"
    """The end with the words; they are on the side that has room."""


@dataclass(frozen=True)
class Span:
    """A part of x that is shaded from the bottom to the top."""

    start: float
    end: float


Mark = Curve | Bars | Grid | Cells | Point | Rule | Span


@dataclass(frozen=True, eq=False)
class Chart:
    """Whatever a painter needs for a screen or a sheet."""

    name: str
    """The name for tests in a browser."""
    title: str
    """The words that stand out, followed at once by `more`."""
    more: str
    """A line break begins a line of smaller words."""
    x: Axis
    y: Axis
    marks: Sequence[Mark]
    height: int = 0
    """Pixels between the axes on a screen; 0: as many as its rows need."""
    has_legend: bool = True
    """The names of the marks stand below."""
    legend: str = ""
    """Words before the names."""
    is_square: bool = False
    """A cell is as wide as it is high."""
    is_for_choice: bool = False
    """A click on a screen chooses a point, and a lasso several; else to drag enlarges."""
    instead: str = ""
    """The reason, where there is nothing to see."""

    @property
    def in_words(self) -> "Chart":
        """The same with the tokens along its sides named as in pictures of words."""
        return replace(self, x=self.x.in_words, y=self.y.in_words)

    @property
    def law(self) -> str:
        """The law by which its numbers become colours, as a sentence; empty: evenly, or by none."""
        grids = (mark for mark in self.marks if isinstance(mark, Grid))
        return " ".join(dict.fromkeys(filter(None, (each.shading.law for each in grids))))

    @property
    def size(self) -> tuple[int, int] | None:
        """Rows and columns of its cells; None: it has none."""
        for mark in self.marks:
            if isinstance(mark, Grid | Cells):
                n_rows, n_columns = (mark.values if isinstance(mark, Grid) else mark.where).shape
                return n_rows, n_columns
        return None

    @property
    def edges(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The ends of its cells along x and, upwards, along y: row 0 is on top."""
        n_rows, n_columns = self.size or (0, 0)
        grid = next((mark for mark in self.marks if isinstance(mark, Grid)), None)
        (row, down), (column, across) = (grid.rows, grid.columns) if grid else ((0, 1), (0, 1))
        left, top = column - across / 2, row - down / 2
        return (left, left + n_columns * across), (top + n_rows * down, top)

    def is_right(self, x: float) -> bool:
        """Say whether a place is in the right half, so that words at it belong on its left."""
        low, high = self.x.ends or (-math.inf, math.inf)
        return x > (math.sqrt(low * high) if self.x.is_log else (low + high) / 2)

    @property
    def n_bars(self) -> int:
        """The number of places of level bars, one below the other."""
        return max((len(m.at) for m in self.marks if isinstance(m, Bars) and m.is_level), default=0)


def values_of(title: str) -> Axis:
    """The vertical axis of amounts: from zero, with quiet lines."""
    return Axis(title, from_zero=True, has_grid=True)


def nothing(name: str, title: str, text: str, more: str = "") -> Chart:
    """A chart that says why it shows nothing."""
    return Chart(name, title, more, Axis(""), Axis(""), (), instead=text)
