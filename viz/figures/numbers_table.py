"""The numbers of a task to work with."""

from collections.abc import Sequence

from viz.exhibits.table import Cell, Column, Row, Table


def numbers_table(rows: Sequence[tuple[str, str]]) -> Table:
    """Names and values."""
    lines = [Row(Cell(name), [Cell(value)]) for name, value in rows]
    return Table("Numbers", [Column(), Column()], lines, kind="list")
