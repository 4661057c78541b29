"""A table's cells as they are written on a sheet: lines of text on a ground."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from viz.exhibits.table import Cell, Column, Table, place_on
from viz.painters.shades import ground_at
from viz.paper.lettering import is_leftward
from viz.theme import Theme


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
            Entry(_lines(row.head.plain, row.head.small), value=_value(row.head), is_head=True),
            *(entry(cell, column) for cell, column in zip(row.cells, columns, strict=True)),
        ]
        for row in table.rows
    ]
    heads = [[each for column in line for each in _head(column)] for line in table.lines_above]
    return Entries(table.title, heads, rows)


def _head(column: Column) -> list[Entry]:
    """A head above several columns begins above the first of them."""
    lines = _lines(column.title, column.small)
    look: Literal["text", ""] = "text" if column.is_text else ""
    head = Entry(lines, is_head=True, is_marked=column.is_marked, look=look)
    return [head, *[Entry(is_head=True)] * (column.n_columns - 1)]


def _entry(cell: Cell, column: Column, table: Table, theme: Theme) -> Entry:
    return Entry(
        _lines(_text(cell), cell.small),
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


def _lines(*texts: str) -> tuple[str, ...]:
    lines: Sequence[str] = [" ".join(text.split()) for text in texts]
    return tuple(filter(None, lines)) or ("",)
