"""No number of a table is lost in its file: read off the golden files, which have both."""

import re
from collections.abc import Iterator

import pytest

from tests.golden.files import file_of, places_and_names, read
from viz.exhibits.table import Cell, Column, Row, Table, cells_of

_CELL = re.compile(r"cell (\d+)\.(\d+)\.(\d+): (.*?)( \| .*)?")
_INTERVAL = re.compile(r"([+−]?\d[\d.]*) to ([+−]?\d[\d.]*)(?: (%))?")
_ENTRY = re.compile(r"(low|high)=(\S+)")
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


def test_the_ends_of_an_interval_in_a_cell_are_in_the_file() -> None:
    n = 0
    for name, lines in tables():
        if any(line.startswith("rows: ") for line in lines):
            continue
        rows = [dict(_ENTRY.findall(line)) for line in lines if line.startswith("row: ")]
        ends = [(float(it["low"]), float(it["high"])) for it in rows if it.get("high")]
        for line in lines:
            cell = _CELL.fullmatch(line)
            said = _INTERVAL.search(cell[4]) if cell and "head" not in (cell[5] or "") else None
            if said is not None:
                part = 0.01 if said[3] == "%" else 1.0
                low, high = (float(each.replace("−", "-")) * part for each in said.groups()[:2])
                near = 0.51 * part * 10 ** -len(said[1].partition(".")[2]) + 1e-4
                assert any(abs(a - low) <= near and abs(b - high) <= near for a, b in ends), (
                    name, line,
                )  # fmt: skip
                n += 1
    assert n > 20


@pytest.mark.parametrize("value", [None, 0.25])
def test_the_number_of_a_row_s_head_is_in_the_file(value: float | None) -> None:
    columns = [Column("weight"), Column("its place")]
    rows = cells_of(Table("t", columns, [Row(Cell("0.25", value), [Cell("2", 2.0)])]))
    head = [] if value is None else [{"row": "0.25", "column": "weight", "value": value}]
    assert rows == [*head, {"row": "0.25", "column": "its place", "value": 2.0}]
