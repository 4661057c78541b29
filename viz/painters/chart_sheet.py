"""A chart on a sheet, in points: for a paper, for a wall, and where no server is."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from viz.exhibits.chart import Chart, Curve, Point, Rule
from viz.labels import visible_words
from viz.painters.chart_frame import Anchor, frame, kept, room_under
from viz.painters.chart_scale import Scale, placed, scales
from viz.painters.inks import colour_of
from viz.paper.lettering import NORMAL, SMALL, broken, fitted, width_of
from viz.paper.plot import DASHES, SAID
from viz.paper.sheet import Box, Line, Mark, Sheet, Words
from viz.theme import Theme

SHAPE, TALLEST = 0.58, 560.0
"""Height by width of what is between the axes, and its points at most."""
SIDE = 1.8
"""Points of a mark's side."""
BESIDE = 6.0
"""Points between a place and the words beside it."""


def sheet(
    chart: Chart, theme: Theme, width: float, shape: float = SHAPE, tallest: float = TALLEST
) -> Sheet:
    """The chart as wide as this, in points. shape, tallest: of what is between the axes."""
    title = [
        line for line in broken(visible_words(chart.title + chart.more), width, NORMAL) if line
    ]
    x, y = _placed(chart, width, len(title) * (NORMAL + 3) + 4.0, shape, tallest)
    marks: list[Mark] = [
        Words(0, (i + 1) * (NORMAL + 2), line, NORMAL, theme.text) for i, line in enumerate(title)
    ]
    marks += frame(x, y, theme, width)
    marks += _rules(chart, x, y, theme)
    marks += _data(chart, x, y, theme)
    marks += _words(chart, x, y, theme, width)
    legend, height = _legend(chart, theme, width, y.start + room_under(x, width))
    return Sheet(width, height, theme.background, (*marks, *legend))


def _placed(
    chart: Chart, width: float, top: float, shape: float, tallest: float
) -> tuple[Scale, Scale]:
    """Both axes in points; the room beside them is that of the longest number."""
    x, y = scales(chart)
    widest = max((width_of(text, SMALL) for _, text in y.ticks()), default=0.0)
    left = min(widest, 0.3 * width) + 5 + (SMALL + 4 if y.axis.title else 0)
    right = width - 4.0
    height = min(shape * (right - left), tallest)
    return replace(x, start=left, end=right), replace(y, start=top + height, end=top)


def _rules(chart: Chart, x: Scale, y: Scale, theme: Theme) -> Iterator[Mark]:
    for rule in chart.marks:
        if isinstance(rule, Rule):
            ends = ((x.start, y.at(rule.y)), (x.end, y.at(rule.y)))
            yield Line((ends,), theme.dim, 0.5, dashes=SAID["dot"])


def _data(chart: Chart, x: Scale, y: Scale, theme: Theme) -> Iterator[Mark]:
    order = 0
    for mark in chart.marks:
        if isinstance(mark, Curve):
            yield from _curve(mark, _dashes(mark, order), x, y, colour_of(mark.ink, theme))
            order += 1
        elif isinstance(mark, Point):
            facts = _facts("", [mark.x], [mark.y], x, y)
            yield from _squares([(x.at(mark.x), y.at(mark.y))], theme.accent, facts)


def _curve(
    curve: Curve, dashes: tuple[float, ...], x: Scale, y: Scale, colour: str
) -> Iterator[Mark]:
    """A line with a gap where a value is missing, and the marks of its points."""
    facts = _facts(curve.name, curve.x, curve.y, x, y)
    points = [(x.at(a), y.at(b)) for a, b in zip(curve.x, curve.y, strict=True)]
    if curve.width:
        parts = tuple(part for part in _pieces(points) if len(part) > 1)
        if parts:
            yield Line(parts, colour, min(1.2, curve.width), 1.0, dashes, facts=facts)
    if curve.point:
        yield from _squares(points, colour, {} if curve.width else facts)


def _squares(
    points: list[tuple[float, float]], colour: str, facts: dict[str, Any]
) -> Iterator[Mark]:
    """A mark a point; the first carries the facts of all."""
    for a, b in points:
        if math.isfinite(a) and math.isfinite(b):
            yield Box(a - SIDE / 2, b - SIDE / 2, SIDE, SIDE, colour, facts=facts)
            facts = {}


def _facts(name: str, xs: Any, ys: Any, x: Scale, y: Scale) -> dict[str, Any]:
    places = {"x": (x, xs), "y": (y, ys)}
    of_axes = {
        name: np.array([placed(value, scale.axis.is_log) for value in values], np.float64)
        for name, (scale, values) in places.items()
    }
    return {"trace": visible_words(name), **of_axes}


def _pieces(points: list[tuple[float, float]]) -> Iterator[tuple[tuple[float, float], ...]]:
    part: list[tuple[float, float]] = []
    for a, b in points:
        if math.isfinite(a) and math.isfinite(b):
            part.append((a, b))
        else:
            yield tuple(part)
            part = []
    yield tuple(part)


def _dashes(curve: Curve, order: int) -> tuple[float, ...]:
    """Curves are told apart without colour, too: by their own dashes or by their turn."""
    return DASHES[order % len(DASHES)] if curve.dash is None else SAID[curve.dash]


def _words(chart: Chart, x: Scale, y: Scale, theme: Theme, width: float) -> Iterator[Mark]:
    """The texts of rules and points: above a line, beside a place."""
    for mark in chart.marks:
        if isinstance(mark, Curve):
            continue
        text = fitted(visible_words(mark.text), width, SMALL)
        at, anchor, colour = _place(mark, x, theme)
        at = kept(at, width_of(text, SMALL), anchor, width)
        yield Words(at, y.at(mark.y) - 2.5, text, SMALL, colour, anchor)


def _place(mark: Point | Rule, x: Scale, theme: Theme) -> tuple[float, Anchor, str]:
    """Where the words of a mark begin or end, and their colour."""
    if isinstance(mark, Rule):
        return x.start, "start", theme.dim
    if mark.side == "left":
        return x.at(mark.x) - BESIDE, "end", theme.text
    return x.at(mark.x) + BESIDE, "start", theme.text


def _legend(chart: Chart, theme: Theme, width: float, top: float) -> tuple[list[Mark], float]:
    """Names of the curves, and where they end."""
    marks: list[Mark] = []
    x, y = 0.0, top + 4
    named = [(order, curve) for order, curve in enumerate(chart.curves()) if curve.name]
    for order, curve in named:
        name, colour = (
            fitted(visible_words(curve.name), width - 18, SMALL),
            colour_of(curve.ink, theme),
        )
        if x and x + 16 + width_of(name, SMALL) > width:
            x, y = 0.0, y + SMALL + 4
        if curve.width:
            ends, dashes = ((x, y + 4), (x + 13, y + 4)), _dashes(curve, order)
            marks.append(Line((ends,), colour, 1.1, dashes=dashes))
        else:
            marks.append(Box(x + 5.5, y + 3, 2, 2, colour))
        marks.append(Words(x + 16, y + SMALL, name, SMALL, theme.text))
        x += 26 + width_of(name, SMALL)
    return marks, y + (SMALL + 5 if named else 0)
