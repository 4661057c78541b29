"""Marks of a chart on a sheet, each with the numbers that it stands for, and axes in points."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer.refusal import visible
from viz.exhibits.chart import Axis, Bars, Cells, Chart, Curve, Dash, Grid, Mark, Point, Rule, Span
from viz.labels import label, number
from viz.painters.shades import N_LEVELS, colour_of, levels_of, palette_of, stops_of
from viz.paper import sheet
from viz.paper.sheet import Box, Line, minus_marks
from viz.theme import Theme

# Axes of a chart in points: where a value stands, and which numbers or labels are beside it.

N_TICKS = 5
"""At most about so many, where an axis names none."""
SPARE = 0.04
"""Share of the range, free at both ends of curves."""


@dataclass(frozen=True)
class Scale:
    """An axis between two places; `low` and `high` are exponents of 10 where it is logarithmic."""

    axis: Axis
    low: float
    high: float
    start: float = 0.0
    end: float = 1.0
    """Points at `low` and at `high`."""

    def at(self, values: Any) -> NDArray[np.float64]:
        """Values -> points; NaN where one has no place."""
        return self._points(placed(values, self.axis.is_log))

    def ticks(self) -> list[tuple[float, str]]:
        """Points and texts, those within its range."""
        low, high = sorted((self.low, self.high))
        slack = 1e-9 * (high - low)
        return [
            (float(self._points(place)), text)
            for place, text in (self._ticks(low, high) if self.axis.is_labelled else ())
            if low - slack <= place <= high + slack
        ]

    def _points(self, places: Any) -> Any:
        share = (places - self.low) / ((self.high - self.low) or 1)
        return self.start + share * (self.end - self.start)

    def _ticks(self, low: float, high: float) -> list[tuple[float, str]]:
        axis = self.axis
        if axis.ticks:
            return [(float(placed(at, axis.is_log)), visible(it)) for at, it in axis.ticks]
        if axis.labels:
            every = -(-len(axis.labels) // axis.most_labels)
            texts = [visible(it) if isinstance(it, str) else label(it) for it in axis.labels]
            return [(float(place), text) for place, text in enumerate(texts)][::every]
        if not axis.is_log:
            return [(value, short(value)) for value in nice(low, high)]
        exponents = range(math.ceil(low), math.floor(high) + 1)
        return [
            (float(it), power(it)) for it in exponents[:: max(1, -(-len(exponents) // N_TICKS))]
        ]


def placed(values: Any, is_log: bool) -> NDArray[np.float64]:
    """Return the places of values along an axis, not yet in points: [N], or one."""
    places = np.asarray(values, np.float64)
    return np.log10(np.where(places > 0, places, math.nan)) if is_log else places


def scales(chart: Chart) -> tuple[Scale, Scale]:
    """Return the scales of x and of y, not yet in points."""
    if chart.size is not None:
        (left, right), (bottom, top) = chart.edges
        return Scale(chart.x, left, right), Scale(chart.y, bottom, top)
    x = _scale(chart.x, [_along(mark)[0] for mark in chart.marks])
    if chart.n_bars:
        return x, Scale(chart.y, chart.n_bars - 0.5, -0.5)
    return x, _scale(chart.y, [_along(mark)[1] for mark in chart.marks])


def _scale(axis: Axis, values: Iterable[NDArray[np.float64]]) -> Scale:
    """The axis from its own ends, or from the values along it."""
    if axis.ends is not None:
        return Scale(axis, *(float(placed(each, axis.is_log)) for each in axis.ends))
    every = placed(np.concatenate([np.zeros(0), *values]), axis.is_log)
    places = every[np.isfinite(every)]
    low, high = (float(places.min()), float(places.max())) if places.size else (0.0, 1.0)
    spare = SPARE * (high - low) or 0.5
    low, high = low - spare, high + spare
    if axis.from_zero:
        low = min(0.0, low) if low < -spare else 0.0
    return Scale(axis, low, high)


def _along(mark: Mark) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Values along x and y that an axis has room for. Rules don't widen it, as on a screen."""
    if isinstance(mark, Curve):
        return np.asarray(mark.x, np.float64), np.asarray(mark.y, np.float64)
    if isinstance(mark, Point):
        return np.array([mark.x]), np.array([mark.y])
    if isinstance(mark, Bars):
        at, values = np.asarray(mark.at, np.float64), np.array([0.0, *mark.values])
        half = 0.5 * float(np.diff(at).min(initial=1.0)) * mark.width
        ends = np.array([at.min(initial=0.0) - half, at.max(initial=0.0) + half])
        return (values, at) if mark.is_level else (ends, values)
    return np.zeros(0), np.zeros(0)


def nice(low: float, high: float) -> list[float]:
    """Round numbers at even distances, a few of them.

    >>> nice(0, 1), nice(-3, 12)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.0, 5.0, 10.0])
    """
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return []
    raw = (high - low) / N_TICKS
    unit = 10 ** math.floor(math.log10(raw))
    step = next(each * unit for each in (1, 2, 5, 10) if each * unit >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(i * step, 12) + 0.0 for i in range(first, math.floor(high / step + 1e-9) + 1)]


def short(value: float) -> str:
    """A tick's number.

    >>> short(0.25), short(-12000.0), short(1e-6)
    ('0.25', '−12,000', '1e−06')
    """
    is_whole = abs(value) >= 1000 and value == int(value)
    return number(value, 0, ",f") if is_whole else number(value, 4, "g")


def power(exponent: int) -> str:
    """10 to a power, as short as it can be read.

    >>> power(0), power(3), power(-5)
    ('1', '1,000', '10⁻⁵')
    """
    if -3 <= exponent <= 4:
        return short(10.0**exponent)
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


# Marks of a chart on a sheet: curves, bars and cells, each with the numbers that it stands for.

DASHES: tuple[tuple[float, ...], ...] = ((), (4, 1.5), (1, 1.2), (5, 1.2, 1, 1.2), (2.2, 1.2))
"""Curves are told apart without colour, too: in turn."""
NAMED: dict[str, tuple[float, ...]] = {"solid": (), "dash": (4.0, 2.0), "dot": (1.0, 1.5)}
SIDE, SIDE_PER_PIXEL = 1.8, 0.35
"""Points of a mark's side, and of one whose size is told in pixels."""
THICKEST = 1.2
"""Points of a curve's width."""
PER_PIXEL = 0.5
"""Points of a stroke."""
ROOM = 0.8
"""Share of the distance between two places, for all bars of one."""
Xy = tuple[Scale, Scale]


def marks_of(chart: Chart, x: Scale, y: Scale, theme: Theme) -> Iterator[sheet.Mark]:
    """Cells lowest, curves on top of bars and of rules."""
    bars = [mark for mark in chart.marks if isinstance(mark, Bars)]
    for mark in chart.marks:
        if isinstance(mark, Grid | Cells):
            yield from (
                _grid(mark, (x, y), theme)
                if isinstance(mark, Grid)
                else (_cells(mark, (x, y), theme),)
            )
    for order, mark in enumerate(bars):
        yield from _bars(mark, (order, len(bars)), x, y, theme)
    yield from _rules(chart, x, y, theme)
    for curve, dashes in dashes_of(chart):
        yield from _curve(curve, dashes, x, y, colour_of(curve.ink, theme))
    for mark in chart.marks:
        if isinstance(mark, Point):
            facts = _facts("", [mark.x], [mark.y], x, y)
            place = np.stack([x.at([mark.x]), y.at([mark.y])], -1)
            yield from _squares(place, [SIDE], colour_of(mark.ink, theme), facts)


def dashes_of(chart: Chart) -> list[tuple[Curve, tuple[float, ...]]]:
    """Curves with their strokes: their own, or by their turn."""
    curves = [mark for mark in chart.marks if isinstance(mark, Curve)]
    return [
        (curve, DASHES[order % len(DASHES)] if curve.dash is None else strokes(curve.dash))
        for order, curve in enumerate(curves)
    ]


def strokes(dash: Dash) -> tuple[float, ...]:
    """In points."""
    if isinstance(dash, str):
        return NAMED[dash]
    return tuple(PER_PIXEL * each for each in dash)


def _rules(chart: Chart, x: Scale, y: Scale, theme: Theme) -> Iterator[sheet.Mark]:
    for mark in chart.marks:
        if isinstance(mark, Span):
            left, right = x.at([mark.start, mark.end]).tolist()
            yield Box(left, y.end, right - left, y.start - y.end, theme.surface)
        elif isinstance(mark, Rule):
            at = float(x.at(mark.at))
            yield Line(
                (((at, y.start), (at, y.end)),),
                colour_of(mark.ink, theme),
                0.5,
                dashes=strokes(mark.dash),
            )


def _curve(
    curve: Curve, dashes: tuple[float, ...], x: Scale, y: Scale, colour: str
) -> Iterator[sheet.Mark]:
    """A line with a gap where a value is missing, and the marks of its points."""
    facts = _facts(curve.name, curve.x, curve.y, x, y)
    points = np.stack([x.at(curve.x), y.at(curve.y)], -1)
    has_points = bool(curve.point or curve.sizes)
    if curve.width or not has_points:
        parts = tuple(part for part in _pieces(points) if len(part) > 1)
        if parts:
            thick = min(THICKEST, curve.width)
            yield Line(parts, colour, thick, curve.opacity, dashes, facts=facts)
    if has_points:
        sides = [SIDE_PER_PIXEL * size for size in curve.sizes] or [SIDE] * len(points)
        yield from _squares(points, sides, colour, {} if curve.width else facts)


def _squares(
    points: NDArray[Any], sides: Sequence[float], colour: str, facts: dict[str, Any]
) -> Iterator[sheet.Mark]:
    """A mark a point; the first carries the facts of all."""
    for (a, b), side in zip(points.tolist(), sides, strict=True):
        if math.isfinite(a) and math.isfinite(b):
            yield Box(a - side / 2, b - side / 2, side, side, colour, facts=facts)
            facts = {}


def _facts(name: str, xs: Any, ys: Any, x: Scale, y: Scale) -> dict[str, Any]:
    across, up = placed(xs, x.axis.is_log), placed(ys, y.axis.is_log)
    return {"trace": visible(name), "x": across, "y": up}


def _pieces(points: NDArray[Any]) -> Iterator[tuple[tuple[float, float], ...]]:
    """A curve without its gaps."""
    part: list[tuple[float, float]] = []
    for a, b in points.tolist():
        if math.isfinite(a) and math.isfinite(b):
            part.append((a, b))
        else:
            yield tuple(part)
            part = []
    yield tuple(part)


def _bars(
    bars: Bars, turn: tuple[int, int], x: Scale, y: Scale, theme: Theme
) -> Iterator[sheet.Mark]:
    """turn: which of how many that share their places."""
    order, n = turn
    names, values = (y, x) if bars.is_level else (x, y)
    places, ends, zero = names.at(bars.at), values.at(bars.values), float(values.at(0.0))
    gaps = np.abs(np.diff(np.sort(places)))
    room = ROOM * float(
        gaps[gaps > 0].min(initial=abs(names.end - names.start) / max(1, len(gaps)))
    )
    inks = bars.inks if len(bars.inks) > 1 else len(places) * [bars.inks[0]]
    for place, end, ink, value in zip(places, ends, inks, bars.values, strict=True):
        first, low, size = place - room / 2 + order * room / n, min(zero, end), abs(end - zero)
        box = (low, first, size, room / n) if bars.is_level else (first, low, room / n, size)
        left, top, width, height = map(float, box)
        facts = {"trace": visible(bars.name), "value": float(value)}
        if np.isfinite(box).all():
            yield Box(left, top, width, height, colour_of(ink, theme), facts=facts)


def _grid(grid: Grid, scales: Xy, theme: Theme) -> Iterator[sheet.Mark]:
    """Cells, and a bar in each below 0."""
    z, shading = np.asarray(grid.values, np.float64), grid.shading
    levels = levels_of(z, (shading.low, shading.high), shading.is_rooted)
    levels[levels == N_LEVELS] = -1
    place = _place(z.shape, *scales)
    colours = palette_of(stops_of(shading.scale, theme))
    yield sheet.Cells(*place, levels, colours, _facts_of_cells(z))
    if shading.low < 0 < shading.high:
        (left, top, width, height), (n_rows, n_columns) = place, z.shape
        cell = (left, top, width / n_columns, height / n_rows)
        yield from minus_marks(z, cell, {"text": theme.text}, -shading.low)


def _cells(cells: Cells, scales: Xy, theme: Theme) -> sheet.Mark:
    """Draw the cells in their one colour."""
    levels = np.where(cells.where, 0, -1).astype(np.int16)
    z = np.where(cells.where, 1.0, math.nan if cells.name else 0.0)
    place, colours = _place(z.shape, *scales), (colour_of(cells.ink, theme),)
    return sheet.Cells(*place, levels, colours, _facts_of_cells(z))


def _facts_of_cells(z: NDArray[Any]) -> dict[str, Any]:
    return {"rows": z.shape[0], "columns": z.shape[1], "z": z}


def _place(shape: Sequence[int], x: Scale, y: Scale) -> tuple[float, float, float, float]:
    """Left, top, width and height of all cells."""
    return x.start, y.end, x.end - x.start, y.start - y.end
