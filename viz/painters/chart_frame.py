"""Whatever stands around the data of a chart: the grid, numbers along the axes, their titles."""

import math
from collections.abc import Iterator
from typing import Literal

from transformer.visible import visible
from viz.painters.chart_scale import Scale
from viz.paper.lettering import MIDDLE, SMALL, broken, fitted, width_of
from viz.paper.sheet import Line, Mark, Words
from viz.theme import Theme

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
