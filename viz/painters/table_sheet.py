"""Tables on a sheet: the same cells, shades and numbers as on the screen, in points."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from viz.exhibits.table import (
    Cell,
    Column,
    Legend,
    Table,
    Tables,
    as_tables,
    named_numbers,
    place_on,
)
from viz.painters.shades import N_LEVELS, colour_at, ground_at, luminance, stops_of
from viz.paper.sheet import (
    MIDDLE,
    NORMAL,
    SMALL,
    Box,
    Cells,
    Line,
    Mark,
    Sheet,
    Words,
    broken,
    fitted,
    is_leftward,
    moved,
    width_of,
)
from viz.theme import Theme

# A table's cells as they are written on a sheet: lines of text on a ground.


@dataclass(frozen=True)
class Entry:
    """A cell, or what stands above or beside cells."""

    lines: tuple[str, ...] = ("",)
    ground: tuple[str, str] | None = None
    """Its colour, and that of what is written on it."""
    value: float | None = None
    ends: tuple[float, float] | None = None
    """Low and high of the interval around its value."""
    is_head: bool = False
    is_marked: bool = False
    """Framed, or of the accent where it is a head."""
    span: tuple[float, ...] = ()
    """Percent of a scale that is as wide as the cell: 0, a value, and the ends of its interval."""
    look: Literal["", "text", "span"] = ""
    """A text beside the numbers, or a scale."""


@dataclass(frozen=True)
class Entries:
    """All of a table."""

    title: str
    heads: list[list[Entry]]
    rows: list[list[Entry]]


def entries_of(table: Table, theme: Theme) -> Entries:
    """In the colours of this theme."""
    columns = table.above[1:]

    def entry(cell: Cell | None, column: Column) -> Entry:
        return Entry() if cell is None else _entry(cell, column, table, theme)

    rows = [
        [
            Entry(
                _lines_table_entries(row.head.plain, row.head.small),
                value=_value(row.head),
                is_head=True,
            ),
            *(entry(cell, column) for cell, column in zip(row.cells, columns, strict=True)),
        ]
        for row in table.rows
    ]
    heads = [[each for column in line for each in _head(column)] for line in table.lines_above]
    return Entries(table.title, heads, rows)


def _head(column: Column) -> list[Entry]:
    """A head above several columns begins above the first of them."""
    lines = _lines_table_entries(column.title, column.small)
    look: Literal["text", ""] = "text" if column.is_text else ""
    head = Entry(lines, is_head=True, is_marked=column.is_marked, look=look)
    return [head, *[Entry(is_head=True)] * (column.n_columns - 1)]


def _entry(cell: Cell, column: Column, table: Table, theme: Theme) -> Entry:
    return Entry(
        _lines_table_entries(_text(cell), cell.small),
        None if cell.shade is None else ground_at(cell.shade, table.scale, theme),
        _value(cell),
        cell.ends,
        is_marked=cell.is_marked,
        span=_span(cell, column),
        look="text" if column.is_text else "span" if column.axis else "",
    )


def _value(cell: Cell) -> float | None:
    """Return its number with the digits that the screen has."""
    return None if cell.value is None else float(f"{cell.value:.6g}")


def _text(cell: Cell) -> str:
    """A line that runs to the left has its arrows point there."""
    is_turned = bool(cell.changes) and is_leftward(cell.plain)
    return cell.plain.replace(" → ", " ← ") if is_turned else cell.plain


def _span(cell: Cell, column: Column) -> tuple[float, ...]:
    if cell.interval is None or column.axis is None:
        return ()
    low, value, high = cell.interval
    ends = () if low is None or high is None else (low, high)
    return tuple(place_on(column.axis, each) for each in (0.0, value, *ends))


def _lines_table_entries(*texts: str) -> tuple[str, ...]:
    lines: Sequence[str] = [" ".join(text.split()) for text in texts]
    return tuple(filter(None, lines)) or ("",)


# The fit of a table to the width of a sheet: columns that narrow, words that run upwards.

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


# The cells of a table, and what stands above and beside them, as marks of a sheet.

Place = tuple[float, float, float, float]
"""Left, top, width and height."""
TABLE_MARKS_LINE = 8.0
"""Points from one line of a cell to the next."""
FAINT = 0.12
"""A shade whose luminance is as near to the ground's says next to nothing."""


def marks_of(content: Table, theme: Theme, width: float) -> tuple[list[Mark], tuple[float, float]]:
    """In points from its top left; and how wide and how high it is."""
    table = entries_of(content, theme)
    shape = shape_of(table, width)
    marks: list[Mark] = []
    y = 0.0
    if table.title:
        title = fitted(table.title, width, NORMAL, is_bold=True)
        marks.append(Words(0, NORMAL, title, NORMAL, theme.text, is_bold=True))
        y = NORMAL + 4
    wide = max(sum(shape.widths), width_of(table.title, NORMAL, is_bold=True))
    # Heads above nothing would say that something is to come; a sheet without a mark says nothing.
    has_heads = table.rows or content.kind == "map" or not (content.below or content.title)
    for row in table.heads if has_heads else ():
        high = _head_height(row, shape)
        marks += _heads(row, shape, y, high, theme)
        y += high
    above = [cell.lines[-1] for cell in table.heads[-1]] if table.heads else []
    for entries in table.rows:
        row = _broken(entries, shape)
        high = shape.row + TABLE_MARKS_LINE * (max(len(cell.lines) for cell in row) - 1)
        x, name = 0.0, row[0].lines[0]
        for i, (cell, across) in enumerate(zip(row, shape.widths, strict=False)):
            column = above[i] if i < len(above) else ""
            marks += _cell(cell, shape, (x, y, across, high), theme, (name, column))
            x += across
        y += high
    return marks, (wide, y)


def _broken(row: Sequence[Entry], shape: Shape) -> list[Entry]:
    """The same row, with the texts beside the numbers whole, in as many lines as that takes."""
    pairs = zip(row, shape.widths, strict=False)
    return [replace(cell, lines=tuple(_text_lines(cell, across, shape))) for cell, across in pairs]


def _text_lines(cell: Entry, across: float, shape: Shape) -> Sequence[str]:
    if cell.look != "text":
        return cell.lines
    return [part for line in cell.lines for part in broken(line, across - PAD, shape.size)]


def _head_height(row: Sequence[Entry], shape: Shape) -> float:
    if not shape.is_upright:
        columns = zip(row, shape.widths, strict=False)
        return 3.0 + TABLE_MARKS_LINE * max(
            len(_head_lines(cell, across, shape)) for cell, across in columns
        )
    longest = max((width_of(c.lines[0], shape.size) for c in row[1:] if not c.look), default=0.0)
    return min(60.0, longest) + 5.0


def _head_lines(cell: Entry, across: float, shape: Shape) -> list[str]:
    """Broken where a column is narrower than what stands above it."""
    return [part for line in cell.lines for part in broken(line, across, shape.size)]


def _heads(
    row: Sequence[Entry], shape: Shape, y: float, high: float, theme: Theme
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
            text = fitted(cell.lines[0], high - 5, shape.size)
            at = (middle + MIDDLE * shape.size, y + high - 3)
            yield Words(*at, text, shape.size, colour, is_upward=True, **look)
        else:
            is_begun = i == 0 or (i == last and cell.look == "text")
            place = (x + PAD, "start") if is_begun else (middle, "middle")
            for n, line in enumerate(reversed(_head_lines(cell, across, shape))):
                text = fitted(line, across, shape.size)
                low = y + high - 3 - n * TABLE_MARKS_LINE
                yield Words(place[0], low, text, shape.size, colour, place[1], **look)  # type: ignore[arg-type]
        x += across


def _cell(
    cell: Entry,
    shape: Shape,
    place: Place,
    theme: Theme,
    named: tuple[str, str],
) -> Iterator[Mark]:
    x, y, across, high = place
    ink = theme.text
    if cell.ground:
        colour, ink = cell.ground
        facts: dict[str, Any] = {} if cell.value is None else _facts(cell, named)
        yield Box(x, y, across, high, colour, theme.grid, 0.3, facts=facts)
    if cell.is_marked and not cell.is_head:
        yield Box(x + 0.6, y + 0.6, across - 1.2, high - 1.2, None, theme.accent, 1.2)
    if cell.span:
        yield from _interval(cell, place, theme)
        return
    if cell.ground and (not shape.has_numbers or cell.lines == ("",)):
        if cell.value is not None and cell.value < 0 and _is_seen(cell.ground[0], theme):
            middle, half = y + high / 2, min(0.2 * across, 2.0)
            stroke = ((x + across / 2 - half, middle), (x + across / 2 + half, middle))
            yield Line((stroke,), ink, 0.5)
        return
    bold = cell.is_marked and cell.is_head
    colour = theme.accent if bold else ink
    top = y + (high - TABLE_MARKS_LINE * (len(cell.lines) - 1)) / 2 + MIDDLE * shape.size
    is_begun = cell.is_head or cell.look == "text"
    for i, line in enumerate(cell.lines):
        at = (x + PAD if is_begun else x + across / 2, top + i * TABLE_MARKS_LINE)
        text = fitted(line, across - (PAD if is_begun else 0), shape.size)
        anchor: Any = "start" if is_begun else "middle"
        own = {} if cell.ground or cell.value is None else _facts(cell, named)
        yield Words(*at, text, shape.size, colour, anchor, is_bold=bold, facts=own)


def _is_seen(shade: str, theme: Theme) -> bool:
    """Say whether a shade stands out from the ground without colour, too."""
    return abs(luminance(shade) - luminance(theme.background)) > FAINT


def _facts(cell: Entry, named: tuple[str, str]) -> dict[str, Any]:
    assert cell.value is not None
    return {"row": named[0], "column": named[1], **named_numbers(cell.value, cell.ends)}


def _interval(cell: Entry, place: Place, theme: Theme) -> Iterator[Mark]:
    """A value with its interval on a scale that all rows share, and where 0 is."""
    x, y, across, high = place
    zero, value, *ends = (x + PAD + each / 100 * (across - 2 * PAD) for each in cell.span)
    middle = y + high / 2
    yield Line((((zero, y), (zero, y + high)),), theme.grid, 0.6)
    if len(ends) == 2:
        yield Line((((ends[0], middle), (ends[1], middle)),), theme.dim, 0.8)
    yield Box(value - 1.4, middle - 1.4, 2.8, 2.8, theme.ink)


# Tables on a sheet: the same cells, shades and numbers as on the screen, in points.

LINE = 8.0
"""Points from one line of a text to the next."""
GAP = 12.0
"""Between tables that stand beside each other, and between lines of them."""
BEFORE = 4.0
"""Between a table and what stands below it."""
BAR = (64.0, 5.0)
"""Width and height of a scale."""


def table_sheet(content: Table | Tables, theme: Theme, width: float) -> Sheet:
    """Tables beside each other as far as there is room, as wide as this in points."""
    tables = as_tables(content)
    marks, low = _heading(tables, theme, width)
    x = y = 0.0
    if tables.legend is not None:
        legend, high = _legend(tables.legend, theme, width)
        marks, low = [*marks, *moved(legend, 0.0, low)], low + high
    is_begun = False  # whether a table stands in this line
    for table in tables:
        drawn, size = marks_of(table, theme, width)
        if not is_begun or x + size[0] > width:
            x, y = 0.0, low + (GAP / 2 if marks else 0.0)
        marks += moved(drawn, x, y)
        x, low, is_begun = x + size[0] + GAP, max(low, y + size[1]), True
        if table.below:
            line = f"{table.below} {table.result}".strip()
            foot = _lines(broken(line, width, SMALL), 0.0, theme)
            marks += moved(foot, 0.0, low + BEFORE)
            low, is_begun = low + BEFORE + len(foot) * LINE + 1, False
    return Sheet(width, low + 1, theme.background, tuple(marks))


def _heading(tables: Tables, theme: Theme, width: float) -> tuple[list[Mark], float]:
    """The sentence above all tables and the line below it; and how high they are."""
    marks: list[Mark] = []
    low = 0.0
    for text, size, ink in (
        (tables.title, NORMAL, theme.text),
        (tables.remark, SMALL, theme.dim),
    ):
        for line in broken(text, width, size) if text else ():
            marks.append(Words(0, low + size, line, size, ink))
            low += LINE + size - SMALL
    return marks, low + BEFORE if marks else low


def _legend(legend: Legend, theme: Theme, width: float) -> tuple[list[Mark], float]:
    """The scale between what its ends are; and how high it is."""
    stops = stops_of(legend.scale, theme)
    x = width_of(legend.low, SMALL) + (4 if legend.low else 0)
    steps = np.arange(0, N_LEVELS, 2, dtype=np.int16)[None]
    colours = tuple(colour_at(stops, i / (N_LEVELS - 1)) for i in range(N_LEVELS))
    marks: list[Mark] = [
        Words(0, SMALL, legend.low, SMALL, theme.dim),
        Cells(x, 1, *BAR, steps, colours),
        Box(x, 1, *BAR, None, theme.dim, 0.4),
    ]
    x += BAR[0] + 4
    # Lines of which the first has less room.
    text = f"{legend.high} {legend.says}".strip()
    room = width - x
    words = text.split(" ")
    n = len(words)
    while n > 1 and width_of(" ".join(words[:n]), SMALL) > room:
        n -= 1
    rest = " ".join(words[n:])
    lines = [
        fitted(" ".join(words[:n]), room, SMALL),
        *(broken(rest, width, SMALL) if rest else ()),
    ]
    return marks + _lines(lines, x, theme), len(lines) * LINE + 1


def _lines(lines: list[str], x: float, theme: Theme) -> list[Mark]:
    """One below the other. x: of the first one."""
    return [
        Words(0 if i else x, SMALL + i * LINE, line, SMALL, theme.dim)
        for i, line in enumerate(lines)
    ]
