"""Several pictures on one sheet: rows of equal height, letters, title, captions, citation."""

import io
import re
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader

from tests.viz.paper.test_typefaces import figure
from transformer import InputError, Recording
from viz import head_grid, head_map, head_view, panels
from viz.paper.figure import Figure
from viz.paper.panels import MOST, SMALLEST, panels_figure
from viz.paper.record import FigureError
from viz.paper.sheet import Box, Cells, Sheet, Words, broken


def words(sheet: Sheet) -> list[str]:
    return [it.text for it in sheet.marks if isinstance(it, Words)]


def boxes(high: float) -> Figure:
    """A figure of one box, so high, and a word of 7 points."""

    def draw(width: float) -> Sheet:
        marks = [Box(0, 0, width - 10, high, "#000000"), Words(2, 9, "word", 7, "#000000")]
        return Sheet(width, high, "#ffffff", tuple(marks))

    made = figure("")
    return Figure(draw, made.record, 2.0)


def test_panels_of_a_row_are_equally_high_and_legible() -> None:
    sheet = panels_figure([boxes(100), boxes(90), boxes(100), boxes(300)]).sheet(6.9)
    rows: dict[float, list[Box]] = {}
    for mark in sheet.marks:
        if isinstance(mark, Box):
            rows.setdefault(round(mark.y, 3), []).append(mark)
    assert [len(row) for row in rows.values()] == [3, 1]
    for row in rows.values():
        assert len({round(it.height, 3) for it in row}) == 1
        assert all(it.x >= 0 and it.x + it.width <= sheet.width for it in row)
    assert min(it.size for it in sheet.marks if isinstance(it, Words)) >= SMALLEST * 7
    letters = [it for it in sheet.marks if isinstance(it, Words) and it.is_bold]
    assert [it.text for it in letters] == list("abcd")


def test_a_supplement_has_title_captions_and_citation(recording: Recording, tmp_path: Path) -> None:
    pictures = [head_map(recording), head_view(recording), head_grid(recording)]
    file = panels(pictures, tmp_path / "s.pdf", "Größe", "Somebody, 2026.", scale="linear")
    document = PdfReader(io.BytesIO(file.read_bytes()))
    text = " ".join(document.pages[0].extract_text().split())
    assert len(document.pages) == 1 and float(document.pages[0].mediabox.width) == 6.9 * 72
    assert text.index("Größe") < text.index("(a) ") < text.index("(c) ") < text.index("2026.")
    for picture in pictures:
        assert picture.title in text
    assert "square" not in text
    assert document.metadata and "Somebody" in document.metadata["/Subject"]
    plain = panels_figure([it.on_paper() for it in pictures]).sheet(6.9)
    assert not any(it.startswith("(a)") for it in words(plain)), "a paper says that itself"
    assert any(isinstance(it, Cells) for it in plain.marks)


def test_lines_of_chinese_end_between_characters() -> None:
    lines = broken("reading “注意力机制注意力机制。” and more", 60)
    assert "".join(lines).replace(" ", "") == "reading“注意力机制注意力机制。”andmore"
    assert len(lines) > 2 and not any(it.startswith(("。", "”")) for it in lines)


@pytest.mark.parametrize("n", [0, MOST + 1])
def test_a_sheet_of_none_or_of_too_many_is_refused(recording: Any, tmp_path: Path, n: int) -> None:
    with pytest.raises(FigureError, match=str(MOST)):
        panels([head_map(recording)] * n, tmp_path / "a.svg")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("columns", [None, 1, 2, 3])
def test_maps_are_equally_large_in_rows_of_so_many(
    recording: Recording, columns: int | None
) -> None:
    """Each below its name, also the one that stands in a last row by itself."""
    pictures = [head_map(recording, "cross", 1, head) for head in (0, 1, 0, 1, 1)]
    sheet = panels_figure([it.on_paper() for it in pictures], columns=columns).sheet(6.9)
    maps = [it for it in sheet.marks if isinstance(it, Cells) and "weight" in it.facts]
    places = [(it.x, it.y) for it in maps if it.height > 20]
    assert len({(round(it.width, 3), round(it.height, 3)) for it in maps if it.height > 20}) == 1
    if columns is not None:
        assert len({round(x, 3) for x, _ in places}) == columns
    assert {"L1 H0", "L1 H1"} == {it[:5] for it in words(sheet) if it.startswith("L1")}


def test_each_picture_may_have_its_own_caption(recording: Recording, tmp_path: Path) -> None:
    pictures = [head_map(recording), head_view(recording)]
    file = panels(pictures, tmp_path / "a.svg", "All", captions=["One.", "Two."])
    assert {"(a) One.", "(b) Two."} <= set(
        re.findall(r">(\([ab]\) \w+\.)<", file.read_text("utf-8"))
    )
    with pytest.raises(InputError, match="2 texts"):
        panels(pictures, tmp_path / "b.svg", captions=["One."])
