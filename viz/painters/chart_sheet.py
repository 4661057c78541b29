"""A chart on a sheet, in points: for a paper, for a wall, and where no server is."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import numpy as np

from transformer.refusal import visible
from viz.exhibits.chart import Bars, Cells, Chart, Grid, Point, Rule, Shading
from viz.labels import number
from viz.painters.chart_marks import Scale, dashes_of, marks_of, scales
from viz.painters.shades import N_LEVELS, colour_of, palette_of, stops_of
from viz.paper import sheet as marks_of_sheets
from viz.paper.sheet import (
    LEAST,
    MIDDLE,
    NORMAL,
    SMALL,
    Box,
    Line,
    Mark,
    Sheet,
    Words,
    broken,
    fitted,
    width_of,
)
from viz.theme import Theme

# Whatever stands around the data of a chart: the grid, numbers along the axes, their titles.

Anchor = Literal["start", "middle", "end"]
MAX_LEVEL = 6
"""Labels of more columns run upwards."""
LONGEST = 50.0
"""Points of a label that runs upwards."""


def frame(x: Scale, y: Scale, theme: Theme, width: float, has_cells: bool) -> Iterator[Mark]:
    """Both axes; y.start is the bottom."""
    yield from _beside(x, y, theme)
    yield from _under(x, y, theme, width, has_cells)
    yield Line((((x.start, y.end), (x.start, y.start), (x.end, y.start)),), theme.dim, 0.4)
    for i, line in enumerate(reversed(_title(x, width))):
        low = y.start + room_under(x, width, has_cells) - 2 - i * (SMALL + 2)
        yield Words((x.start + x.end) / 2, low, line, SMALL, theme.dim, "middle")
    if y.axis.title:
        text = fitted(visible(y.axis.title), y.start - y.end, SMALL)
        middle = (y.start + y.end) / 2
        yield Words(SMALL, middle, text, SMALL, theme.dim, "middle", is_upward=True)


def _beside(x: Scale, y: Scale, theme: Theme) -> Iterator[Mark]:
    ticks = y.ticks()
    every = max(1, math.ceil(len(ticks) * (SMALL + 0.2) / max(1.0, y.start - y.end)))
    for place, text in ticks[::every]:
        if y.axis.has_grid:
            yield Line((((x.start, place), (x.end, place)),), theme.grid, 0.3)
        words = fitted(text, max(8.0, x.start - 5), SMALL)
        yield Words(x.start - 3, place + MIDDLE * SMALL, words, SMALL, theme.text, "end")


def _under(x: Scale, y: Scale, theme: Theme, width: float, has_cells: bool) -> Iterator[Mark]:
    ticks, is_upright = x.ticks(), _is_upright(x, has_cells)
    wide = max((width_of(text, SMALL) for _, text in ticks), default=0)
    most = max(1, int((x.end - x.start) // (SMALL + 1 if is_upright else 4 + wide)) + 1)
    before = (-math.inf, 0.0)  # the label before: its middle, and half its width
    for place, text in ticks[:: max(1, -(-len(ticks) // most))]:
        if x.axis.has_grid:
            yield Line((((place, y.end), (place, y.start)),), theme.grid, 0.3)
        if is_upright:
            at = (place + MIDDLE * SMALL, y.start + 3)
            text = fitted(text, LONGEST, SMALL)
            yield Words(*at, text, SMALL, theme.text, "end", is_upward=True)
            continue
        half = width_of(text, SMALL) / 2
        middle = inside(place, 2 * half, "middle", width)
        if abs(middle - before[0]) > half + before[1] + 2:  # the last is moved to be whole
            before = (middle, half)
            yield Words(middle, y.start + SMALL + 3, text, SMALL, theme.text, "middle")


def _is_upright(x: Scale, has_cells: bool) -> bool:
    """Say whether labels run upwards: those of many cells, or words that would not fit level."""
    if has_cells and len(x.axis.labels) > MAX_LEVEL:
        return True
    texts = [text for _, text in x.ticks()] if x.axis.labels or x.axis.ticks else []
    if all(text.replace(",", "").lstrip("−").isdecimal() for text in texts):
        return False
    wide = max(width_of(text, SMALL) for text in texts) + 4
    return wide * len(texts) > x.end - x.start + wide


def inside(x: float, wide: float, anchor: Anchor, width: float) -> float:
    """Return x, moved where the text would reach beyond the sheet's sides."""
    before = {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
    return max(before, min(x, width - wide + before))


def room_under(x: Scale, width: float, has_cells: bool) -> float:
    """Points below the bottom for the labels of x and its title."""
    longest = max((width_of(text, SMALL) for _, text in x.ticks()), default=0.0)
    labels = min(LONGEST, longest) if _is_upright(x, has_cells) else SMALL
    return labels + 7 + (SMALL + 2) * len(_title(x, width))


def _title(x: Scale, width: float) -> list[str]:
    """The title of x in lines that fit the sheet."""
    middle = (x.start + x.end) / 2
    room = 2 * min(width - middle, middle)
    lines = [visible(line) for line in x.axis.title.split("\n") if line]
    return [part for line in lines for part in broken(line, room, SMALL)]


# A chart on a sheet, in points: for a paper, for a wall, and where no server is.

SHAPE, TALLEST = 0.58, 560.0
"""Height by width of what is between the axes, and its points at most."""
CELL, FEWEST = 14.0, 60.0
"""Points of a cell, at most, and of all columns, at least."""
ROW, LOWEST = 10.0, 40.0
"""Points of a level bar's row, and of what is between the axes, at least."""
BESIDE = 6.0
"""Points between a place and the words beside it."""
BAR = (110.0, 5.0)
"""Width and height of a colour scale."""


def sheet(
    chart: Chart, theme: Theme, width: float, shape: float = SHAPE, tallest: float = TALLEST
) -> Sheet:
    """The chart as wide as this, in points. shape, tallest: of what is between the axes."""
    words = visible(chart.title + chart.more.replace("\n", " "))
    title = [line for line in broken(words, width, NORMAL) if line]
    marks: list[Mark] = [
        Words(0, (i + 1) * (NORMAL + 2), line, NORMAL, theme.text) for i, line in enumerate(title)
    ]
    top = len(title) * (NORMAL + 3) + 4.0
    if chart.instead:
        lines = broken(visible(chart.instead), width, SMALL)
        marks += [
            Words(0, top + (i + 1) * (SMALL + 2), line, SMALL, theme.dim)
            for i, line in enumerate(lines)
        ]
        return Sheet(width, top + len(lines) * (SMALL + 2) + 4, theme.background, tuple(marks))
    x, y = _placed(chart, width, top, shape, tallest)
    has_cells = chart.size is not None
    marks += frame(x, y, theme, width, has_cells)
    marks += marks_of(chart, x, y, theme)
    marks += _words(chart, x, y, theme, width)
    below, height = _legend(chart, theme, width, y.start + room_under(x, width, has_cells))
    return Sheet(width, height, theme.background, (*marks, *below))


def _placed(
    chart: Chart, width: float, top: float, shape: float, tallest: float
) -> tuple[Scale, Scale]:
    """Both axes in points; the room beside them is that of the longest label."""
    x, y = scales(chart)
    widest = max((width_of(text, SMALL) for _, text in y.ticks()), default=0.0)
    left = min(widest, 0.3 * width) + 5 + (SMALL + 4 if y.axis.title else 0)
    right = width - 4.0
    height = shape * (right - left)
    if chart.size is not None:
        n_rows, n_columns = chart.size
        cell = min(CELL, (right - left) / n_columns)
        right = left + max(cell * n_columns, min(FEWEST, right - left))
        height = max(cell * n_rows, LOWEST if cell > LEAST else 0.45 * width)
    elif chart.n_bars:
        height = max(LOWEST, ROW * chart.n_bars)
    height = min(height, tallest)
    return replace(x, start=left, end=right), replace(y, start=top + height, end=top)


def _words(chart: Chart, x: Scale, y: Scale, theme: Theme, width: float) -> Iterator[Mark]:
    """The texts of rules and points, beside them."""
    for mark in chart.marks:
        if isinstance(mark, Point | Rule) and mark.text:
            text = fitted(visible(mark.text), width, SMALL)
            (at, low), anchor, colour = _place(mark, chart, x, y, theme)
            at = inside(at, width_of(text, SMALL), anchor, width)
            yield Words(at, low, text, SMALL, colour, anchor)


def _place(
    mark: Point | Rule, chart: Chart, x: Scale, y: Scale, theme: Theme
) -> tuple[tuple[float, float], Anchor, str]:
    """Return the start or end of the words of a mark, their anchor and their colour."""
    if isinstance(mark, Point):
        is_left = mark.side == "left"
        at = float(x.at(mark.x)) + (-BESIDE if is_left else BESIDE)
        return (at, float(y.at(mark.y)) - 2.5), "end" if is_left else "start", theme.text
    colour = colour_of(mark.ink, theme)
    low = y.end + SMALL + 1 if mark.place == "top" else y.start - 2.5
    return (float(x.at(mark.at)), low), "end" if chart.is_right(mark.at) else "start", colour


def _legend(chart: Chart, theme: Theme, width: float, top: float) -> tuple[list[Mark], float]:
    """Names of the marks, the scale of a map, and where both end."""
    marks: list[Mark] = []
    x, y = 0.0, top + 4
    samples = _samples(chart, theme) if chart.has_legend else []
    if samples and chart.legend:
        marks.append(Words(0, y + SMALL, visible(chart.legend), SMALL, theme.dim))
        x = width_of(chart.legend, SMALL) + 6
    for text, sample in samples:
        name = fitted(visible(text), width - 18, SMALL)
        if x and x + 16 + width_of(name, SMALL) > width:
            x, y = 0.0, y + SMALL + 4
        marks += marks_of_sheets.moved([sample], x, y)
        marks.append(Words(x + 16, y + SMALL, name, SMALL, theme.text))
        x += 26 + width_of(name, SMALL)
    y += SMALL + 5 if samples else 0
    for shading in [mark.shading for mark in chart.marks if isinstance(mark, Grid)]:
        marks += _scale_bar(shading, theme, width, y)
        y += SMALL + 9
    return marks, y


def _samples(chart: Chart, theme: Theme) -> list[tuple[str, Mark]]:
    """Names, each with a small mark of its look; states of cells where there are several."""
    cells = [mark for mark in chart.marks if isinstance(mark, Cells) and mark.name]
    samples: list[tuple[str, Mark]] = [
        (mark.name, Box(4, 1, 8, 5, colour_of(mark.ink, theme), theme.dim, 0.3))
        for mark in (cells if len(cells) > 1 else ())
    ]
    for mark in chart.marks:
        if isinstance(mark, Bars) and mark.name:
            samples.append((mark.name, Box(3, 1, 6, 5, colour_of(mark.inks[0], theme))))
    for curve, dashes in dashes_of(chart):
        colour = colour_of(curve.ink, theme)
        if not (curve.name and curve.is_in_legend):
            continue
        if curve.width:
            samples.append((curve.name, Line((((0, 4), (13, 4)),), colour, 1.1, dashes=dashes)))
        else:
            samples.append((curve.name, Box(5.5, 3, 2, 2, colour)))
    return samples


def _scale_bar(shading: Shading, theme: Theme, width: float, y: float) -> Iterator[Mark]:
    """The colours with the values of both ends, and what they measure."""
    steps = np.arange(0, N_LEVELS, 4, dtype=np.int16)[None]
    long, high = BAR
    colours = palette_of(stops_of(shading.scale, theme))
    yield marks_of_sheets.Cells(0, y, long, high, steps, colours)
    ends: tuple[tuple[float, float, Anchor], ...]
    ends = ((0.0, shading.low, "start"), (long, shading.high, "end"))
    for at, value, anchor in ends:
        yield Words(at, y + 6 + SMALL, number(value, 3, "g"), SMALL, theme.dim, anchor)
    title = fitted(visible(shading.legend), width - long - 6, SMALL)
    yield Words(long + 6, y + high, title, SMALL, theme.text)
