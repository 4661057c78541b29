"""The fit of a table to the width of a sheet: columns that narrow, words that run upwards."""

from dataclasses import dataclass

from viz.painters.table_entries import Entries
from viz.paper.lettering import SMALL, width_of

ROW, LEAST_ROW, TALLEST = 9.5, 6.4, 600.0
"""Points that a row is high; of many rows, at least, so that all of them are as high as a page."""
PAD = 3.0
"""Beside what a cell says."""
LEAST_CELL, WIDEST_SPAN = 2.0, 110.0
LEAST_SOFT = 0.17
"""Least share of the width, for a text or a scale beside the numbers."""


@dataclass(frozen=True)
class Shape:
    """The shape of a table within the room that it has."""

    widths: list[float]
    row: float
    size: float
    """Points of letters."""
    is_upright: bool
    """Words above shaded cells run upwards."""
    has_numbers: bool
    """Shaded cells have room for their words."""


def shape_of(table: Entries, width: float) -> Shape:
    """Return the shape for a sheet of this width in points."""
    rows = table.rows
    high = max(LEAST_ROW, min(ROW, TALLEST / max(1, len(rows))))
    size = SMALL
    n = max(map(len, [*table.heads, *rows]), default=0)  # no rows where a question has no answer
    shaded = [any(i < len(row) and row[i].ground for row in rows) for i in range(n)]
    soft = [i for i in range(n) if any(i < len(row) and row[i].look for row in rows)]
    ways = ((False, True), (True, True), (True, False)) if any(shaded) else ((False, True),)
    for is_upright, has_numbers in ways:
        widths = [
            _natural(table, i, size, is_upright and shaded[i], has_numbers or not shaded[i])
            for i in range(n)
        ]
        for i in soft:
            rest = width - sum(widths) + widths[i]
            widths[i] = min(widths[i], max(rest, LEAST_SOFT * width))
        if sum(widths) <= width:
            return Shape(widths, high, size, is_upright, has_numbers)
    rest = sum(each for each, is_shaded in zip(widths, shaded, strict=True) if not is_shaded)
    each = max(LEAST_CELL, (width - rest) / max(1, sum(shaded)))
    widths = [each if is_shaded else it for it, is_shaded in zip(widths, shaded, strict=True)]
    narrower = min(1.0, width / sum(widths))  # of more columns than a page can have
    widths = [it * narrower for it in widths]
    return Shape(widths, high, size, is_upright, has_numbers)


def _natural(table: Entries, i: int, size: float, is_upright: bool, has_numbers: bool) -> float:
    """Return the width of the words of a column, in points."""
    heads = [row[i] for row in table.heads if i < len(row)]
    cells = [row[i] for row in table.rows if i < len(row)]
    if any(cell.look == "span" for cell in cells):
        return WIDEST_SPAN
    lines = [line for cell in cells if has_numbers for line in cell.lines]
    lines += [] if is_upright else [line for cell in heads for line in cell.lines]
    widest = max((width_of(line, size) for line in lines), default=0.0)
    is_shaded = any(cell.ground for cell in cells)
    return max(size + 2 if is_shaded else 0.0, widest + 2 * PAD)
