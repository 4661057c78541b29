"""What a wall shows of what a page declares."""

from dataclasses import replace

import pytest

from viz.exhibits.exhibit import Exhibit
from viz.exhibits.table import Cell, Column, Row, Table
from viz.ui import showing as columns
from viz.ui.showing import MOST_ROWS, fitting, is_here

ROWS = [Row(Cell(str(i)), [Cell(str(i), i)]) for i in range(40)]
TABLE = Table("Numbers", [Column(), Column("number")], ROWS, foot="All of them.")


@pytest.fixture(params=[False, True])
def on_wall(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr(columns, "on_wall", lambda: request.param)
    is_wall: bool = request.param
    return is_wall


def test_a_wall_shows_what_is_main(on_wall: bool) -> None:
    main = Exhibit("Numbers", TABLE)
    assert is_here(main)
    assert is_here(replace(main, is_main=False)) is not on_wall


def test_a_long_table_has_the_rows_that_a_wall_has_room_for_and_says_how_many(
    on_wall: bool,
) -> None:
    table = fitting(TABLE)
    assert isinstance(table, Table)
    assert len(table.rows) == (MOST_ROWS if on_wall else len(ROWS))
    assert str(len(ROWS)) in table.foot or not on_wall
    assert table.foot.endswith(TABLE.foot)


def test_maps_and_lists_of_facts_stay_whole(on_wall: bool) -> None:
    facts = replace(TABLE, kind="list")
    assert fitting(facts) is facts
