"""What is seen of a table: on the screen and on a sheet the same, and nothing unescaped."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from viz.exhibits.table import Cell, Change, Column, Legend, Row, Table, Tables
from viz.figures.decoding import token_lines
from viz.figures.sweeps import HeadOff, MeanOff, means_table, sweep_table
from viz.painters.shades import contrast, grounds_of, luminance
from viz.painters.table_html import samples_body, table_html
from viz.painters.table_sheet import table_sheet
from viz.paper.sheet import Box, Sheet, Words
from viz.theme import DARK, LIGHT, Theme

NASTY = '<img src=x onerror="x">'


class Links(HTMLParser):
    """The attributes of all links."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.all: list[dict[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.all.append(dict(attrs))


def nasty() -> Table:
    cell = Cell(NASTY, 1.5, -1.0, NASTY, '?a=1&b="2"', NASTY, is_marked=True, is_reached=False)
    changes = Cell(changes=(Change(NASTY, NASTY), Change("", "und")))
    return Table(
        NASTY,
        [Column(NASTY, NASTY), Column(NASTY, is_word=True), Column(NASTY, is_text=True)],
        [Row(Cell(NASTY), [cell, changes]), Row(Cell("b"), [None, Cell("the same", tip=NASTY)])],
        title=NASTY,
        legend=Legend("signed", NASTY, NASTY, NASTY, NASTY),
        foot=NASTY,
        result=NASTY,
    )


@pytest.mark.parametrize("kind", ["rows", "map", "list"])
def test_every_text_is_escaped_and_links_keep_their_address(kind: str) -> None:
    drawn = table_html(replace(nasty(), kind=kind), LIGHT)
    assert "<img" not in drawn
    (link,) = Links(drawn).all
    assert link == {
        "data-state": None,
        "tabindex": "-1",
        "href": '?a=1&b="2"',
        "title": NASTY,
        "aria-label": NASTY,
    }
    assert 'class="s0 marked" data-value="1.5"' in drawn
    assert drawn.count("<del>") == 1 and "<ins>+ und</ins>" in drawn and "<td></td>" in drawn
    assert "<img" not in samples_body([Cell(NASTY)])


def test_a_cell_without_a_link_says_its_number_to_a_pointer() -> None:
    table = sweep_table([HeadOff("a", "./", [-2.0, 0.5], -1.5)], ["so", NASTY])
    drawn = table_html(table, DARK)
    assert re.findall(r'<td class="s(\d+)" data-value="([^"]*)" title="so ([^"]*)">', drawn) == [
        ("0", "-2", "−2.000")
    ]
    assert 'role="region" aria-label="Sweep"' in drawn and "tall" not in drawn.split("</style>")[1]


def test_many_rows_scroll_and_many_words_run_upwards() -> None:
    table = sweep_table([HeadOff("a", "./", [0.5] * 30, 1.0)] * 30, ["so"] * 30)
    assert 'class="data rows tall wide"' in table_html(table, LIGHT)


def test_5000_cells_are_short() -> None:
    """Colours are classes: 84 bytes a cell were those of the tables before."""
    row = HeadOff("Encoder L1 H1", "./explore?edits=head-off:encoder_self.1.1", [0.123456] * 24, 1)
    drawn = table_html(sweep_table([row] * 208, [f"word{i}" for i in range(24)]), LIGHT)
    assert len(drawn.encode()) < 84 * 208 * 24


def test_a_mean_stands_within_its_interval_on_one_scale() -> None:
    rows = [MeanOff("a", "./", -2.0, -4.0, 1.0, 0.5), MeanOff("b", "./", 1.0, None, None, 0.0)]
    drawn = table_html(means_table(rows), DARK)
    assert '<i style="left:0.00%;width:100.00%">' in drawn and drawn.count("class=lost") == 1
    assert re.findall(r'<b[^>]*style="left:([\d.]+)%', drawn) == ["40.00", "100.00"]
    assert re.findall(r'<u style="left:([\d.]+)%', drawn) == ["80.00"] * 2


def test_where_there_is_nothing_no_heads_of_columns_stand() -> None:
    """The foot says so: heads above nothing would look as if the rows were still to come."""
    none = Table("Repairs", [Column("Change"), Column("Cost")], [], foot="No repair.")
    drawn = table_html(none, LIGHT)
    assert "No repair." in drawn and "<table" not in drawn and "Cost" not in drawn
    assert "<th" not in drawn and "Title" in table_html(replace(none, title="Title"), LIGHT)
    texts = [mark.text for mark in table_sheet(none, LIGHT, 200.0).marks if isinstance(mark, Words)]
    assert texts == ["No repair."]


def test_sentences_stand_below_each_other() -> None:
    drawn = table_html(token_lines([("A, 1", [("cat", True)]), ("B, 1", [(NASTY, False)])]), DARK)
    assert '<th scope="col" class="marked">cat</th>' in drawn and "<img" not in drawn
    assert drawn.count("<tr>") == 2


def words(sheet: Sheet) -> list[str]:
    return [mark.text for mark in sheet.marks if isinstance(mark, Words)]


def test_a_sheet_has_the_cells_of_the_screen() -> None:
    table = sweep_table(
        [HeadOff("a", "./", [-2.0, 0.5], -1.5, written=(Change("x", "y"),))], ["so", "it"]
    )
    sheet = table_sheet(table, LIGHT, 400.0)
    assert {"off", "total", "so", "it", "a", "−1.50", "−2.00", "+0.50", "x → y"} <= set(
        words(sheet)
    )
    grounds = grounds_of("signed", LIGHT)
    boxes = [mark for mark in sheet.marks if isinstance(mark, Box) and mark.facts]
    assert [box.fill for box in boxes] == [grounds[0][0], grounds[24][0]]
    assert [dict(box.facts) for box in boxes] == [
        {"row": "a", "column": "so", "value": -2.0},
        {"row": "a", "column": "it", "value": 0.5},
    ]
    said = " ".join(words(sheet))
    assert "less likely −2.00" in said and "A click" not in said


def test_of_a_table_without_rows_its_foot_is_left() -> None:
    """As of a question that no head answers."""
    sheet = table_sheet(Table("a", [Column("")], [], foot="None does."), LIGHT, 200.0)
    assert words(sheet) == ["None does."]


def test_tables_stand_beside_each_other_where_there_is_room() -> None:
    one = Table("a", [Column("a")], [Row(Cell("row"), [])])
    both = Tables([[one, one]])
    wide, narrow = (table_sheet(both, LIGHT, width) for width in (200.0, 20.0))
    assert wide.height < narrow.height and words(wide) == ["a", "row"] * 2
    title = "Words longer than the sheet is wide"
    headed = table_sheet(replace(both, title=title, remark="said"), LIGHT, 100.0)
    *lines, remark, cell = words(headed)[:-3]
    assert " ".join(lines) == title and len(lines) > 1 and (remark, cell) == ("said", "a")
    assert headed.height > table_sheet(both, LIGHT, 100.0).height
    foot = replace(one, foot="these 4 = score", result="+1")
    assert "these 4 = score +1" in words(table_sheet(foot, LIGHT, 200.0))


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_numbers_are_legible_on_every_shade(theme: Theme) -> None:
    for scale in ("signed", "share"):
        for ground, ink in grounds_of(scale, theme):
            assert contrast(luminance(ground), luminance(ink)) >= 4.5


@pytest.mark.parametrize(("change", "text"), [(("x", "y"), "x → y"), (("לא", "כן"), "לא ← כן")])
def test_an_arrow_points_to_the_new_words_whichever_way_they_run(
    change: tuple[str, str], text: str
) -> None:
    table = sweep_table([HeadOff("a", "./", [0.5], 0.5, written=(Change(*change),))], ["it"])
    assert text in words(table_sheet(table, LIGHT, 400.0))


def test_a_long_text_beside_numbers_is_folded_on_the_screen_and_whole_on_a_sheet() -> None:
    changes = tuple(Change(f"old{i}", f"new{i}") for i in range(60))
    rows = [HeadOff(f"head {n}", "./", [0.5] * 60, 1.0, written=changes[:n]) for n in (1, 60)]
    table = sweep_table(rows, ["so"] * 60)
    short, long = table_html(table, LIGHT).split("</thead>")[1].split("</tr>")[:2]
    assert "<details>" not in short and long.count("<ins>") == 60
    assert "<summary>" in long and " open" not in long.split("<details")[1].split(">")[0]
    sheet = table_sheet(table, LIGHT, 500.0)
    said = " ".join(words(sheet))
    assert all(f"old{i} → new{i}" in said for i in range(60)) and "…" not in said
    low = [mark.y for mark in sheet.marks if isinstance(mark, Words)]
    assert max(low) < sheet.height, "rows are as high as their texts"


def test_the_head_of_a_column_opens_what_its_numbers_are() -> None:
    columns = [Column("head"), Column("by <b>", explain="It is < 1."), Column("plain")]
    row = Row(Cell("a"), [Cell("1", 1.0), Cell("2", 2.0)])
    drawn = table_html(Table("Table", columns, [row]), LIGHT)
    assert drawn.count("<details class=") == 1 and drawn.count("It is &lt; 1.") == 2
    assert drawn.count(' class="m0"') == 2, "the head, and its line below all heads"
    assert "<summary>by &lt;b&gt;</summary>" in drawn
    sorting = [*columns[:2], Column("plain", link="?a=b", explain="Never both.")]
    assert "Never both." not in table_html(Table("Table", sorting, [row]), LIGHT)
