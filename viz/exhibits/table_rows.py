"""A table's numbers as rows: each cell with the heads of its row and its column."""

from collections.abc import Iterator
from typing import Any

from transformer.visible import visible
from viz.exhibits.table import Cell, Table, Tables, named_numbers


def cells_of(content: Table | Tables) -> list[dict[str, Any]]:
    """A row for each cell that stands for a number, the head of a row, too, where that has one; of
    several tables with the table's title. An interval is its value, low and high.
    """
    if isinstance(content, Table):
        return list(_cells(content))
    return [{"table": visible(table.title)} | row for table in content for row in _cells(table)]


def _cells(table: Table) -> Iterator[dict[str, Any]]:
    for row in table.rows:
        for cell, column in zip((row.head, *row.cells), table.above, strict=True):
            if cell is not None and cell.value is not None:
                named = {"row": _plain(row.head), "column": visible(column.title)}
                yield {
                    **named,
                    **row.origin,
                    **column.origin,
                    **named_numbers(cell.value, cell.ends),
                }


def _plain(head: Cell) -> str:
    return visible(" ".join(head.plain.split()))
