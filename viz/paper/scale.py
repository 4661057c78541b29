"""The scale beside a map, and marks that tell its values apart without colour."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from viz.exhibits.shading import POWER, by_root, root_law
from viz.labels import number
from viz.painters.shades import ink_on, palette_of
from viz.paper.drawing import Data
from viz.paper.lettering import SMALL, broken, width_of
from viz.paper.sheet import Box, Cells, Line, Mark, Words

BAR = 5.0
"""Points that the scale is high."""
LEAST = 3.5
"""Points of a cell's side below which a mark in it would only be dirt."""
FAINT = 0.08
"""Share of the scale's end: cells as near to 0 are almost the ground, whatever their sign."""
Place = tuple[float, float, float, float]
"""Left and top of a map, width and height of a cell."""


def scale_bar(
    data: Data, width: float, bounds: tuple[float, float], lens: dict[str, Any] | None = None
) -> tuple[list[Mark], float]:
    """The scale with its numbers and what it measures, and how high both are together."""
    lens = lens or data.header["lens"]
    is_signed, colours = lens["scale"] == "signed", data.colours
    scale = data.state["difference"] if is_signed else colours["scale"]
    n = 64
    steps = np.rint(np.linspace(0, 255, n)).astype(np.int16)[None]
    bar = min(width, 110.0)
    marks: list[Mark] = [
        Cells(0, 0, bar, BAR, steps, palette_of(scale, colours["masked"])),
        Box(0, 0, bar, BAR, None, colours["dim"], 0.4),
    ]
    low, high = bounds
    for share in (0.0, 0.5, 1.0):
        value = low + (high - low) * (share if is_signed else share**POWER)
        anchor: Any = {0.0: "start", 0.5: "middle", 1.0: "end"}[share]
        marks.append(
            Words(share * bar, BAR + SMALL + 1.5, _end(value), SMALL, colours["dim"], anchor)
        )
    title = lens["title"] if is_signed else by_root(lens["title"])
    if bar + 6 + width_of(title, SMALL) <= width:
        marks.append(Words(bar + 6, BAR, title, SMALL, colours["text"]))
        return marks, BAR + SMALL + 4
    y = BAR + SMALL + 2
    for line in broken(title, width, SMALL):
        y += SMALL + 2
        marks.append(Words(0, y, line, SMALL, colours["text"]))
    return marks, y + 3


def law_of_map(data: Data) -> str:
    """The law by which the numbers of its map become colours, for a caption."""
    lens = data.header["lens"]
    return "" if lens["scale"] == "signed" else root_law(lens["title"])


def _end(value: float) -> str:
    """Write a number with two digits that count.

    >>> _end(0.25), _end(-3.14159), _end(1.0), _end(0.0), _end(120.4)
    ('0.25', '−3.1', '1', '0', '120')
    """
    return number(value, 0) if abs(value) >= 100 else number(value, 2, "g")


def hatched(masked: NDArray[np.bool_], place: Place, colour: str) -> list[Mark]:
    """A stroke through each masked cell: told apart by more than its colour."""
    left, top, width, height = place
    if not masked.any() or min(width, height) < LEAST:
        return []
    parts = tuple(
        (
            (left + (column + 0.2) * width, top + (row + 0.8) * height),
            (left + (column + 0.8) * width, top + (row + 0.2) * height),
        )
        for row, column in np.argwhere(masked)
    )
    return [Line(parts, colour, 0.25, 0.6)]


def minus_marks(
    values: NDArray[np.floating[Any]], place: Place, colours: dict[str, Any], end: float
) -> list[Mark]:
    """A bar in each cell that is seen to be below 0: both ends of the scale are equally dark
    without colour. end: of the scale.
    """
    left, top, width, height = place
    if min(width, height) < LEAST:
        return []
    parts = tuple(
        (
            (left + (column + 0.3) * width, top + (row + 0.5) * height),
            (left + (column + 0.7) * width, top + (row + 0.5) * height),
        )
        for row, column in np.argwhere(np.nan_to_num(values) < -FAINT * end)
    )
    under = [Line(parts, ink_on(colours["text"]), 1.1), Line(parts, colours["text"], 0.45)]
    return list(under) if parts else []
