"""No number of a table is lost in its file: read off the golden files, which have both."""

import re
from collections.abc import Iterator

import pytest

from tests.golden.files import file_of, places_and_names, read
from viz.exhibits.table import Cell, Column, Row, Table
from viz.exhibits.table_rows import cells_of

_CELL = re.compile(r"cell (\d+)\.(\d+)\.(\d+): (.*?)( \| .*)?")
_NUMBER = re.compile(r"[+−]?[\d.,]+( ?%| nats| bits| positions)?")


def tables() -> Iterator[tuple[str, list[str]]]:
    for place, name in places_and_names():
        lines = read(file_of(place, name))
        if any(line.startswith("cell ") for line in lines):
            yield f"{place}.{name}", lines


def test_every_value_of_a_cell_is_a_row_of_the_file() -> None:
    n = 0
    for name, lines in tables():
        if any(line.startswith("rows: ") for line in lines):
            continue  # so many that the golden file has what they come to
        cells = [
            it[1]
            for line in lines
            if line.startswith("cell ") and (it := re.search(r"\bvalue ([^ ,]+)", line))
        ]
        rows = [it[1] for line in lines if (it := re.search(r"^row: .*\bvalue=(\S+)", line))]
        assert sorted(cells) == sorted(rows), name
        n += len(cells)
    assert n > 500


def test_every_number_in_a_cell_is_a_value() -> None:
    """The head of a row is its name, which may be a rank or a word that is a number."""
    wrong = [
        (name, line)
        for name, lines in tables()
        for line in lines
        if (cell := _CELL.fullmatch(line)) and "head" not in (cell[5] or "")
        if _NUMBER.fullmatch(cell[4]) and "value " not in (cell[5] or "")
    ]
    assert not wrong


@pytest.mark.parametrize("value", [None, 0.25])
def test_the_number_of_a_row_s_head_is_in_the_file(value: float | None) -> None:
    columns = [Column("weight"), Column("its place")]
    rows = cells_of(Table("t", columns, [Row(Cell("0.25", value), [Cell("2", 2.0)])]))
    head = [] if value is None else [{"row": "0.25", "column": "weight", "value": value}]
    assert rows == [*head, {"row": "0.25", "column": "its place", "value": 2.0}]
