"""Golden files stay as they are where nothing that counts has changed."""

from pathlib import Path

import pytest

from tests.golden import files
from tests.golden.files import Golden, file_of, read, write

LINES = ["title: Heads", "row: head=0 value=0.1234", "row: head=1 value=0.5000", "says: 26 % of H2"]
ROUNDED = [
    "title: Heads",
    "row: head=0 value=0.1235",
    "row: head=1 value=0.4999",
    "says: 27 % of H2",
]
MARK, CELLS = '<rect x="{}" y="7" fill="#0072b2"/>', '<path fill="#00000{}" d="M0 0h9"/>'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two files of an exhibit, in a folder of their own."""
    monkeypatch.setattr(files, "FILES", tmp_path)
    write("pages/one", "map", Golden(LINES, [MARK.format("10"), CELLS.format(0)]))


def svg() -> list[str]:
    return read(file_of("pages/one", "map", "svg"))


def txt() -> list[str]:
    return read(file_of("pages/one", "map"))


def test_another_machines_rounding_leaves_the_files_as_they_are() -> None:
    names = write("pages/one", "map", Golden(ROUNDED, [MARK.format("10.4"), CELLS.format(1)]))
    assert [each.suffix for each in names] == [".txt", ".svg"]
    assert txt() == LINES and svg() == [MARK.format("10"), CELLS.format(0)]


def test_beside_what_has_changed_the_other_lines_stay() -> None:
    changed = [*ROUNDED[:2], "row: head=1 value=0.9000", ROUNDED[3]]
    write("pages/one", "map", Golden(changed, [MARK.format("10.4"), CELLS.format(1)]))
    assert txt() == [*LINES[:2], "row: head=1 value=0.9000", LINES[3]]
    assert svg() == [MARK.format("10"), CELLS.format(1)]  # where its cells are other ones


def test_a_sheet_alone_is_written_alone() -> None:
    write("pages/one", "map", Golden(ROUNDED, [MARK.format("30"), CELLS.format(0)]))
    assert txt() == LINES and svg() == [MARK.format("30"), CELLS.format(0)]


def test_the_order_is_the_new_one() -> None:
    write("pages/one", "map", Golden([*ROUNDED[::-1], "row: head=2 value=1.0"]))
    assert txt() == [*LINES[::-1], "row: head=2 value=1.0"]
