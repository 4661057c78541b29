"""Whatever stands around the data of a chart: the grid, numbers along the axes, their titles."""

import math
from collections.abc import Iterator
from typing import Literal

from viz.painters.chart_scale import Scale
from viz.paper.lettering import MIDDLE, SMALL, broken, fitted, width_of
from viz.paper.sheet import Line, Mark, Words
from viz.theme import Theme

Anchor = Literal["start", "middle", "end"]


def frame(x: Scale, y: Scale, theme: Theme, width: float) -> Iterator[Mark]:
    """Both axes; y.start is the bottom."""
    yield from _beside(x, y, theme)
    yield from _under(x, y, theme, width)
    yield Line((((x.start, y.end), (x.start, y.start), (x.end, y.start)),), theme.dim, 0.4)
    for i, line in enumerate(reversed(_title(x, width))):
        low = y.start + room_under(x, width) - 2 - i * (SMALL + 2)
        yield Words((x.start + x.end) / 2, low, line, SMALL, theme.dim, "middle")
    if y.axis.title:
        text = fitted(y.axis.title, y.start - y.end, SMALL)
        middle = (y.start + y.end) / 2
        yield Words(SMALL, middle, text, SMALL, theme.dim, "middle", is_upward=True)


def _beside(x: Scale, y: Scale, theme: Theme) -> Iterator[Mark]:
    ticks = y.ticks()
    every = max(1, math.ceil(len(ticks) * (SMALL + 0.2) / max(1.0, y.start - y.end)))
    for place, text in ticks[::every]:
        if y.axis.has_grid:
            yield Line((((x.start, place), (x.end, place)),), theme.grid, 0.3)
        label = fitted(text, max(8.0, x.start - 5), SMALL)
        yield Words(x.start - 3, place + MIDDLE * SMALL, label, SMALL, theme.text, "end")


def _under(x: Scale, y: Scale, theme: Theme, width: float) -> Iterator[Mark]:
    ticks = x.ticks()
    room = 4 + max((width_of(text, SMALL) for _, text in ticks), default=0)
    most = max(1, int((x.end - x.start) // room) + 1)
    before = (-math.inf, 0.0)  # the label before: its middle, and half its width
    for place, text in ticks[:: max(1, -(-len(ticks) // most))]:
        half = width_of(text, SMALL) / 2
        middle = kept(place, 2 * half, "middle", width)
        if abs(middle - before[0]) > half + before[1] + 2:  # the last is moved to be whole
            before = (middle, half)
            yield Words(middle, y.start + SMALL + 3, text, SMALL, theme.text, "middle")


def kept(x: float, wide: float, anchor: Anchor, width: float) -> float:
    """Where a text stands that would reach beyond the sheet's sides."""
    before = {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
    return max(before, min(x, width - wide + before))


def room_under(x: Scale, width: float) -> float:
    """Points below the bottom for the numbers of x and its title."""
    return SMALL + 7 + (SMALL + 2) * len(_title(x, width))


def _title(x: Scale, width: float) -> list[str]:
    """The title of x in lines that fit the sheet."""
    middle = (x.start + x.end) / 2
    return broken(x.axis.title, 2 * min(width - middle, middle), SMALL) if x.axis.title else []
