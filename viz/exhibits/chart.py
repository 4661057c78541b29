"""A chart as data: two axes and the marks between them, its numbers as rows, and laws of
shading.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from transformer.refusal import visible
from transformer.token import Token
from viz.labels import label, worded
from viz.map_words import uncapitalised

# The laws by which a number gets its place on a colour scale: by its root, or evenly.
#
# viz/components/kit/shade.js says the same to the browser.

Scale = Literal["share", "signed"]
"""From 0 to the theme's dark end, or from one end over 0 to the other."""
SCALES: tuple[Scale, ...] = get_args(Scale)
UNIT = 1.0
POWER = 2
"""A place by the root has this power as its value."""


@dataclass(frozen=True)
class Shading:
    """A colour scale with the values of its two ends."""

    title: str
    scale: Scale
    low: float
    high: float
    is_rooted: bool = False
    is_clipped: bool = False
    """Values beyond the two ends may occur; they take the colours of the ends."""

    @property
    def legend(self) -> str:
        """The title, with the law by which numbers become colours where that is not evenly."""
        return by_root(self.title) if self.is_rooted else self.title

    @property
    def law(self) -> str:
        """The same as a sentence of a caption; empty where numbers become colours evenly."""
        return root_law(self.title) if self.is_rooted else ""

    def places(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values -> their places, 0 to 1; NaN stays so."""
        return places(values, (self.low, self.high), self.is_rooted)


def by_root(title: str) -> str:
    """Say beside a bar of colours what it measures, and that they go by the root of that."""
    return f"{title} (square-root scale)"


def root_law(title: str) -> str:
    """The same in a caption.

    >>> root_law("Weight")
    'A colour goes by the square root of the weight.'
    """
    return f"A colour goes by the square root of the {uncapitalised(title)}."


def weights() -> Shading:
    """0 to 1, whatever the head: so that heads compare."""
    return Shading("weight", "share", 0.0, UNIT, is_rooted=True)


def differences(title: str, bound: float = UNIT, is_clipped: bool = False) -> Shading:
    """-bound to bound, with 0 as the background."""
    return Shading(title, "signed", -bound, bound, is_clipped=is_clipped)


def places(
    values: NDArray[Any], ends: tuple[float, float], is_rooted: bool
) -> NDArray[np.floating[Any]]:
    """The places of values between two ends, 0 to 1; NaN stays so."""
    low, high = ends
    shares = np.clip((values - low) / ((high - low) or 1), 0, 1)
    return np.sqrt(shares) if is_rooted else shares


def rooted(value: float, largest: float = UNIT) -> float:
    """The place of a value, by the root of its share of the largest: small ones stay visible.

    >>> rooted(0.25), rooted(-1.0, 4.0), rooted(9.0, 4.0), rooted(1.0, 0.0)
    (0.5, -0.5, 1.0, 0.0)
    """
    place = abs(even(value, largest)) ** (1 / POWER)
    return place if value >= 0 else -place


def even(value: float, largest: float = UNIT) -> float:
    """The place of a value, by its share of the largest: what does next to nothing is quiet.

    >>> even(0.25), even(-1.0, 4.0), even(9.0, 4.0), even(1.0, 0.0)
    (0.25, -0.25, 1.0, 0.0)
    """
    return max(-1.0, min(1.0, value / largest)) if largest > 0 else 0.0


# A chart as data: two axes and the marks between them, without colours of a theme.

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
    ink: Ink = "accent"


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


# A chart's numbers as rows, exact, under what its axes and its scale are called.

Row = dict[str, Any]


def evenly(chart: Chart) -> Chart:
    """The same, whose numbers become colours evenly."""
    marks = [
        replace(mark, shading=replace(mark.shading, is_rooted=False))
        if isinstance(mark, Grid)
        else mark
        for mark in chart.marks
    ]
    return replace(chart, marks=marks)


def rows_of(chart: Chart) -> list[Row]:
    """A row for each point, bar and cell.

    A value along an axis with labels is its label, behind its place; a cell that the chart leaves
    empty has no value. Rules and spans have no rows.
    """
    return [row for mark in chart.marks for row in _rows(mark, chart)]


def _rows(mark: Mark, chart: Chart) -> Iterator[Row]:
    if isinstance(mark, Curve):
        yield from _points(mark.name, mark.x, mark.y, chart, mark.names)
    elif isinstance(mark, Bars):
        ends = (mark.values, mark.at) if mark.is_level else (mark.at, mark.values)
        yield from _points(mark.name, *ends, chart)
    elif isinstance(mark, Point):
        yield from _points(mark.text, [mark.x], [mark.y], chart)
    elif isinstance(mark, Grid):
        values, name = np.asarray(mark.values), _plain(mark.shading.title) or "value"
        empty = np.isnan(values.astype(np.float64))
        for place, named in _cells(values.shape, chart, np.ones(values.shape, bool)):
            yield named | {_other(name, named): None if empty[place] else values[place].item()}
    elif isinstance(mark, Cells) and mark.name:
        for _, named in _cells(mark.where.shape, chart, mark.where):
            yield named | {_other("state", named): mark.name}


def _points(
    name: str, xs: Numbers, ys: Numbers, chart: Chart, names: Sequence[str] = ()
) -> Iterator[Row]:
    """Rows of values along both axes; without the gaps. names: of the points."""
    across, up = np.asarray(xs), np.asarray(ys)
    there = np.isfinite(across.astype(np.float64)) & np.isfinite(up.astype(np.float64))
    for i in np.flatnonzero(there).tolist():
        x, y = across[i].item(), up[i].item()
        row: Row = {"series": visible(name)} | ({"point": visible(names[i])} if names else {})
        for axis, value, usual in ((chart.x, x, "x"), (chart.y, y, "y")):
            if axis.labels:
                row[_other("place", row)] = value
            row[_other(_plain(axis.title) or usual, row)] = _at(axis, value)
        yield {**row, **_origin(chart.y, y), **_origin(chart.x, x)}


def _cells(
    shape: Sequence[int], chart: Chart, where: NDArray[np.bool_]
) -> Iterator[tuple[tuple[int, int], Row]]:
    """Row and column of cells, with what stands beside and below them."""
    grid = next((each for each in chart.marks if isinstance(each, Grid)), None)
    (top, down), (left, across) = (grid.rows, grid.columns) if grid else ((0.0, 1.0), (0.0, 1.0))
    for i, j in np.argwhere(where).tolist():
        row: Row = {"row": i, "column": j}
        for axis, value, usual in (
            (chart.y, top + i * down, "y"),
            (chart.x, left + j * across, "x"),
        ):
            row[_other(_plain(axis.title) or usual, row)] = _at(axis, value)
            row |= _origin(axis, value)
        yield (i, j), row


def _at(axis: Axis, value: float) -> Any:
    """The label at a place, where the axis has labels; else the value."""
    if not axis.labels:
        return value
    it = axis.labels[round(value)] if 0 <= round(value) < len(axis.labels) else ""
    return visible(it) if isinstance(it, str) else label(it)


def _origin(axis: Axis, value: float) -> Mapping[str, str]:
    """The token of the text at a place; empty where it is none."""
    return axis.origins[round(value)] if 0 <= round(value) < len(axis.origins) else {}


def _plain(title: str) -> str:
    return visible(" ".join(title.split()))


def _other(name: str, row: Row) -> str:
    """The name, or where it is taken the next one that is free: "key", "key 2"."""
    names = (name, *(f"{name} {i}" for i in range(2, len(row) + 3)))
    return next(each for each in names if each not in row)
