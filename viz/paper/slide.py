"""A figure on a slide of 16:9: drawn as for a paper, then enlarged until the slide is full.

Drawn at the slide's own width it would have the small letters of a paper on a large sheet.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

from viz.paper.lettering import width_of
from viz.paper.sheet import INCH, Box, Line, Mark, Sheet, Words, moved

WIDE, HIGH = 40 / 3, 7.5
"""Inches of a slide of 16:9, as programs for slides have it."""
EDGE = 18.0
"""Points that stay free around the figure."""
NARROW, BROAD = 3.3, 6.9
"""Inches: the least and the most that it is drawn for."""
STEPS = 4
MOST = 4.0
"""It becomes at most so many times as large: words of three letters are no headline."""


def slide(draw: Callable[[float], Sheet]) -> Sheet:
    """Return the slide. draw: inches of width -> the figure on a sheet of its own size."""
    widths = [NARROW + (BROAD - NARROW) * i / (STEPS - 1) for i in range(STEPS)]
    sheets = [draw(width) for width in widths]
    sheet = max(sheets, key=lambda each: _filled(*extent(each.marks)))
    left, top, right, bottom = extent(sheet.marks)
    times = _times(left, top, right, bottom)
    x, y = (
        WIDE * INCH / 2 - times * (left + right) / 2,
        HIGH * INCH / 2 - times * (top + bottom) / 2,
    )
    marks = tuple(moved(enlarged(sheet.marks, times), x, y))
    return Sheet(WIDE * INCH, HIGH * INCH, sheet.background, marks)


def _times(left: float, top: float, right: float, bottom: float) -> float:
    across, down = WIDE * INCH - 2 * EDGE, HIGH * INCH - 2 * EDGE
    return min(MOST, across / (right - left), down / (bottom - top))


def _filled(left: float, top: float, right: float, bottom: float) -> float:
    """Return the area that it takes, in square points."""
    return _times(left, top, right, bottom) ** 2 * (right - left) * (bottom - top)


def extent(marks: Iterable[Mark]) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of what is drawn."""
    boxes = [_box(mark) for mark in marks]
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def _box(mark: Mark) -> tuple[float, float, float, float]:
    if isinstance(mark, Line):
        points = [point for part in mark.parts for point in part]
        xs, ys = [x for x, _ in points], [y for _, y in points]
        return min(xs), min(ys), max(xs), max(ys)
    if not isinstance(mark, Words):
        return mark.x, mark.y, mark.x + mark.width, mark.y + mark.height
    length = width_of(mark.text, mark.size, mark.is_bold)
    before = {"start": 0.0, "middle": 0.5, "end": 1.0}[mark.anchor] * length
    if mark.is_upward:
        return mark.x - mark.size, mark.y + before - length, mark.x, mark.y + before
    return mark.x - before, mark.y - mark.size, mark.x - before + length, mark.y + mark.size / 4


def enlarged(marks: Iterable[Mark], times: float) -> list[Mark]:
    """The same marks, so many times as large."""
    return [_enlarged(mark, times) for mark in marks]


def _enlarged(mark: Mark, times: float) -> Mark:
    if isinstance(mark, Line):
        parts = tuple(tuple((times * x, times * y) for x, y in part) for part in mark.parts)
        dashes = tuple(times * each for each in mark.dashes)
        return replace(mark, parts=parts, thick=times * mark.thick, dashes=dashes)
    x, y = times * mark.x, times * mark.y
    if isinstance(mark, Words):
        return replace(mark, x=x, y=y, size=times * mark.size)
    width, height = times * mark.width, times * mark.height
    if isinstance(mark, Box):
        thick = times * mark.thick
        return replace(mark, x=x, y=y, width=width, height=height, thick=thick)
    return replace(mark, x=x, y=y, width=width, height=height)
