"""Marks of a chart on a sheet: curves, bars and cells, each with the numbers that it stands for."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer.visible import visible
from viz.exhibits.chart import Bars, Cells, Chart, Curve, Dash, Grid, Point, Rule, Span
from viz.painters.chart_scale import Scale, placed
from viz.painters.inks import colour_of
from viz.painters.shades import N_LEVELS, levels_of, palette_of, stops_of
from viz.paper import sheet
from viz.paper.scale import minus_marks
from viz.paper.sheet import Box, Line
from viz.theme import Theme

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
            yield from _squares(place, [SIDE], theme.accent, facts)


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
