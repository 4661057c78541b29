"""A picture that is a table on the screen, on a sheet: the same cells, shades and numbers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from viz.paper.html_table import Block, Cell, Table, Text, read_tables
from viz.paper.lettering import MIDDLE, NORMAL, SMALL, broken, fitted, width_of
from viz.paper.shades import N_LEVELS, colour_at, luminance
from viz.paper.sheet import Box, Cells, Line, Mark, Sheet, Words, moved
from viz.theme import Theme

ROW, LEAST_ROW, TALLEST = 9.5, 6.4, 600.0
"""Points that a row is high; of many rows, at least, so that all of them are as high as a page."""
LINE = 8.0
"""Points from one line of a text to the next."""
GAP = 12.0
"""Between tables that stand beside each other, and between lines of them."""
PAD = 3.0
"""Beside what a cell says."""
LEAST_CELL, WIDEST_SPAN = 2.0, 110.0
LEAST_SOFT = 0.17
"""Of the width, what a text or a scale beside the numbers has at least."""
FAINT = 0.12
"""A shade whose luminance is as near to the ground's says next to nothing."""
BAR = (64.0, 5.0)
"""Width and height of a scale."""


@dataclass(frozen=True)
class Shape:
    """How a table is written into the room that it has."""

    widths: list[float]
    row: float
    size: float
    """Of letters."""
    is_upright: bool
    """Whether what stands above shaded cells runs upwards."""
    has_numbers: bool
    """Whether shaded cells have room for what they say."""


def tabled(html: str, theme: Theme, width: float) -> Sheet:
    """Tables beside each other as far as there is room, as wide as this in points."""
    marks: list[Mark] = []
    x = y = low = 0.0
    before: Block | None = None
    for block in read_tables(html):
        if isinstance(block, Text):
            drawn, height = _text(block, theme, width)
            x, y = 0.0, low + (4.0 if before else 0.0)
            marks += moved(drawn, x, y)
            low = y + height
        else:
            drawn, size = _drawn(block, theme, width)
            if not isinstance(before, Table) or x + size[0] > width:
                x, y = 0.0, low + (GAP / 2 if before else 0.0)
            marks += moved(drawn, x, y)
            x, low = x + size[0] + GAP, max(low, y + size[1])
        before = block
    return Sheet(width, low + 1, theme.background, tuple(marks))


def _text(said: Text, theme: Theme, width: float) -> tuple[list[Mark], float]:
    marks: list[Mark] = []
    x, (first, rest) = 0.0, said.parts
    lines = broken(first, width, SMALL)
    if said.stops:
        marks.append(Words(0, SMALL, first, SMALL, theme.dim))
        x = width_of(first, SMALL) + (4 if first else 0)
        steps = np.arange(0, N_LEVELS, 2, dtype=np.int16)[None]
        colours = tuple(colour_at(said.stops, i / (N_LEVELS - 1)) for i in range(N_LEVELS))
        marks.append(Cells(x, 1, *BAR, steps, colours))
        marks.append(Box(x, 1, *BAR, None, theme.dim, 0.4))
        x += BAR[0] + 4
        lines = _begun(rest, width - x, width)
    for i, line in enumerate(lines):
        marks.append(Words(0 if i else x, SMALL + i * LINE, line, SMALL, theme.dim))
    return marks, len(lines) * LINE + 1


def _begun(text: str, room: float, width: float) -> list[str]:
    """Lines of which the first has less room."""
    words = text.split(" ")
    n = len(words)
    while n > 1 and width_of(" ".join(words[:n]), SMALL) > room:
        n -= 1
    rest = " ".join(words[n:])
    return [fitted(" ".join(words[:n]), room, SMALL), *(broken(rest, width, SMALL) if rest else ())]


def _drawn(table: Table, theme: Theme, width: float) -> tuple[list[Mark], tuple[float, float]]:
    shape = _shape(table, width)
    marks: list[Mark] = []
    y = 0.0
    if table.title:
        title = fitted(table.title, width, NORMAL, is_bold=True)
        marks.append(Words(0, NORMAL, title, NORMAL, theme.text, is_bold=True))
        y = NORMAL + 4
    wide = max(sum(shape.widths), width_of(table.title, NORMAL, is_bold=True))
    for row in table.heads:
        high = _head_height(row, shape)
        marks += _heads(row, shape, y, high, theme)
        y += high
    above = [cell.lines[-1] for cell in table.heads[-1]] if table.heads else []
    for row in table.rows:
        high = shape.row + LINE * (max(len(cell.lines) for cell in row) - 1)
        x, name = 0.0, row[0].lines[0]
        for i, (cell, across) in enumerate(zip(row, shape.widths, strict=False)):
            column = above[i] if i < len(above) else ""
            marks += _cell(cell, shape, (x, y, across, high), theme, (name, column))
            x += across
        y += high
    return marks, (wide, y)


def _shape(table: Table, width: float) -> Shape:
    rows = table.rows
    high = max(LEAST_ROW, min(ROW, TALLEST / max(1, len(rows))))
    size = SMALL
    n = max(map(len, [*table.heads, *rows]))
    shaded = [any(i < len(row) and row[i].shade for row in rows) for i in range(n)]
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


def _natural(table: Table, i: int, size: float, is_upright: bool, has_numbers: bool) -> float:
    """As wide as what a column says."""
    heads = [row[i] for row in table.heads if i < len(row)]
    cells = [row[i] for row in table.rows if i < len(row)]
    if any(cell.look == "span" for cell in cells):
        return WIDEST_SPAN
    said = [line for cell in cells if has_numbers for line in cell.lines]
    said += [] if is_upright else [line for cell in heads for line in cell.lines]
    widest = max((width_of(line, size) for line in said), default=0.0)
    is_shaded = any(cell.shade for cell in cells)
    return max(size + 2 if is_shaded else 0.0, widest + 2 * PAD)


def _head_height(row: Sequence[Cell], shape: Shape) -> float:
    if not shape.is_upright:
        columns = zip(row, shape.widths, strict=False)
        return 3.0 + LINE * max(len(_head_lines(cell, across, shape)) for cell, across in columns)
    longest = max((width_of(c.lines[0], shape.size) for c in row[1:] if not c.look), default=0.0)
    return min(60.0, longest) + 5.0


def _head_lines(cell: Cell, across: float, shape: Shape) -> list[str]:
    """Broken where a column is narrower than what stands above it."""
    return [part for line in cell.lines for part in broken(line, across, shape.size)]


def _heads(
    row: Sequence[Cell], shape: Shape, y: float, high: float, theme: Theme
) -> Iterator[Mark]:
    x, last = 0.0, len(row) - 1
    for i, (cell, across) in enumerate(zip(row, shape.widths, strict=False)):
        colour = theme.accent if cell.is_marked else theme.dim
        look: Any = {"is_bold": cell.is_marked}
        middle = x + across / 2
        is_up = (
            shape.is_upright and not cell.look and across < width_of(cell.lines[0], shape.size) + 2
        )
        if is_up and shape.size > across:  # of narrow columns as many as there is room for
            every = -(-int(shape.size + 1) // max(1, int(across)))
            is_up = i % every == 1
            if not is_up:
                x += across
                continue
        if is_up:
            said = fitted(cell.lines[0], high - 5, shape.size)
            at = (middle + MIDDLE * shape.size, y + high - 3)
            yield Words(*at, said, shape.size, colour, is_upward=True, **look)
        else:
            is_begun = i == 0 or (i == last and cell.look == "words")
            place = (x + PAD, "start") if is_begun else (middle, "middle")
            for n, line in enumerate(reversed(_head_lines(cell, across, shape))):
                said = fitted(line, across, shape.size)
                low = y + high - 3 - n * LINE
                yield Words(place[0], low, said, shape.size, colour, place[1], **look)  # type: ignore[arg-type]
        x += across


def _cell(
    cell: Cell,
    shape: Shape,
    place: tuple[float, float, float, float],
    theme: Theme,
    named: tuple[str, str],
) -> Iterator[Mark]:
    x, y, across, high = place
    ink = theme.text
    if cell.shade:
        ground, ink = cell.shade
        facts: dict[str, Any] = {} if cell.value is None else _facts(cell, named)
        yield Box(x, y, across, high, ground, theme.grid, 0.3, facts=facts)
    if cell.is_marked and not cell.is_head:
        yield Box(x + 0.6, y + 0.6, across - 1.2, high - 1.2, None, theme.accent, 1.2)
    if cell.span:
        yield from _interval(cell, place, theme)
        return
    if cell.shade and (not shape.has_numbers or cell.lines == ("",)):
        if cell.value is not None and cell.value < 0 and _is_seen(cell.shade[0], theme):
            middle, half = y + high / 2, min(0.2 * across, 2.0)
            stroke = ((x + across / 2 - half, middle), (x + across / 2 + half, middle))
            yield Line((stroke,), ink, 0.5)
        return
    bold = cell.is_marked and cell.is_head
    colour = theme.accent if bold else ink
    top = y + (high - LINE * (len(cell.lines) - 1)) / 2 + MIDDLE * shape.size
    is_begun = cell.is_head or cell.look == "words"
    for i, line in enumerate(cell.lines):
        at = (x + PAD if is_begun else x + across / 2, top + i * LINE)
        said = fitted(line, across - (PAD if is_begun else 0), shape.size)
        anchor: Any = "start" if is_begun else "middle"
        own = {} if cell.shade or cell.value is None else _facts(cell, named)
        yield Words(*at, said, shape.size, colour, anchor, is_bold=bold, facts=own)


def _is_seen(shade: str, theme: Theme) -> bool:
    """Whether a shade would be taken for another one without colour."""
    return abs(luminance(shade) - luminance(theme.background)) > FAINT


def _facts(cell: Cell, named: tuple[str, str]) -> dict[str, Any]:
    return {"row": named[0], "column": named[1], "value": cell.value}


def _interval(cell: Cell, place: tuple[float, float, float, float], theme: Theme) -> Iterator[Mark]:
    """A value with its interval on a scale that all rows share, and where 0 is."""
    x, y, across, high = place
    zero, value, *ends = (x + PAD + each / 100 * (across - 2 * PAD) for each in cell.span)
    middle = y + high / 2
    yield Line((((zero, y), (zero, y + high)),), theme.grid, 0.6)
    if len(ends) == 2:
        yield Line((((ends[0], middle), (ends[1], middle)),), theme.dim, 0.8)
    yield Box(value - 1.4, middle - 1.4, 2.8, 2.8, theme.ink)
