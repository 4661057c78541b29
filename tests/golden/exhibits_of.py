"""The one file of the golden tests that knows by which classes pages declare what they show.

Whoever changes how pages do that changes `_exhibits` and what it calls, and no golden file.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any
from unittest.mock import patch

from transformer.discover import discover
from transformer.recording import Recording
from viz.components.kit.browser import unpack
from viz.exhibits.exhibit import Exhibit as Declared
from viz.exhibits.exhibit import PictureAt
from viz.exhibits.table import Table, Tables, as_tables
from viz.figure_at import page_of
from viz.pages.gallery import pictures
from viz.pages.lessons.lesson import exhibits_in, opened_by, place_in
from viz.painters.chart_sheet import sheet
from viz.painters.table_sheet import Entries, entries_of
from viz.paper.figure import Figure
from viz.paper.record import Record
from viz.paper.sheet import Sheet
from viz.screen import Screen
from viz.server.recording_scenes import story_file
from viz.state.page import PAGES, Page, Pane
from viz.stories.story import Scene, Story
from viz.theme import LIGHT
from viz.ui.saving import data_of, figure_of, says_of
from viz.views.view import Choice, View

WIDTH = 6.9
"""Inches of the sheets: two columns of a paper."""
NOWHERE = Record("", "", "", "", "", "", "", "")


@dataclass(frozen=True)
class Cell:
    """A cell of a table, or a head of it."""

    row: int
    column: int
    text: str
    value: float | None
    shade: str
    """The colour of its ground in light colours; empty where it has none."""
    is_head: bool
    is_marked: bool


@dataclass(frozen=True, eq=False)
class Exhibit:
    """What is shown, in plain values."""

    title: str
    says: str
    address: str = ""
    """Which opens the page where it stands; empty where it is on none."""
    caption: str = ""
    sheet: Sheet | None = None
    svg: str = ""
    """A small picture that is only an image."""
    tables: tuple[tuple[Cell, ...], ...] = ()
    unexplained: tuple[str, ...] = ()
    """Columns of numbers that nothing says more of than their titles."""
    uncounted: tuple[str, ...] = ()
    """Tables with intervals of which nothing says how many sentences these are over."""
    payload: tuple[dict[str, Any], list[Any]] | None = None
    """Header and arrays that the browser is sent, where a component of ours draws it."""


def exhibits_at(screen: Screen) -> dict[str, Exhibit]:
    """Name -> what an address shows, as `python -m viz figure` finds it. Raises Refusal."""
    pane, figures = page_of(screen)
    return {name: _exhibit(pane, shown, name) for name, shown in figures.items()}


def views_of(view: View, recording: Recording) -> dict[str, Exhibit]:
    """A view of a recording: with the first option of each control, then one other at a time.

    Of two heads the second is the last one, so that they differ.
    """
    options = {each.name: list(each.options(recording)) for each in view.controls}
    first = {name: each[-1 if name == "second" else 0] for name, each in options.items()}
    few = {each.name: each.values for each in view.controls if isinstance(each, Choice)}
    others = {
        f"-{name}-{i}": first | {name: other}
        for name in few
        for i, other in enumerate(few[name][1:], 2)
    }
    return {name: _view(view, recording, each) for name, each in ({"": first} | others).items()}


def _view(view: View, recording: Recording, choices: dict[str, Any]) -> Exhibit:
    draw = partial(sheet, view.content(recording, **choices), LIGHT)
    drawn = Figure(draw, NOWHERE).sheet(WIDTH)
    return Exhibit(view.title, view.describe(recording, **choices), sheet=drawn)


def saved(story: Story) -> str:
    """The HTML file that a story is saved as."""
    pages: dict[str, Page] = discover("viz.pages", "PAGE")
    with patch.dict(PAGES, pages):  # as in an app that has been opened
        return story_file(story).decode()


def lesson_exhibits(scene: Scene) -> dict[str, Exhibit]:
    """What a lesson draws in a scene, over the first checkpoint that has what it is about."""
    pane, _ = page_of(Screen(checkpoint="copy"))
    place = place_in(pane.answer, scene.exercise.head, scene.exercise.row)
    assert place is not None
    opened = opened_by(scene, pane.answer, place)
    with patch.dict(PAGES, discover("viz.pages", "PAGE")):
        pane, exhibits = exhibits_in(scene.exercise.shows, pane, place, opened)
    return {name: _exhibit(pane, each, name) for name, each in exhibits.items()}


def gallery_exhibits(story: Story) -> list[Exhibit]:
    """The small pictures of its scenes."""
    made = pictures(story, LIGHT.name)
    scenes = zip(story.scenes, made, strict=True)
    return [Exhibit(scene.heading, it.alt, svg=it.svg) for scene, it in scenes if it is not None]


def _exhibit(pane: Pane, shown: Declared, name: str) -> Exhibit:
    figure = figure_of(pane, shown, LIGHT, name=name)
    sheet, says = figure.sheet(WIDTH), says_of(pane, shown)
    record = figure.record
    return Exhibit(
        record.title, says, record.link, record.caption, sheet,
        tables=tuple(_tables(shown)), unexplained=tuple(_unexplained(shown)),
        uncounted=tuple(_uncounted(shown)),
        payload=_payload(shown.pane or pane, shown),
    )  # fmt: skip


def _tables(shown: Declared) -> Iterator[tuple[Cell, ...]]:
    if isinstance(shown.content, Table | Tables):
        for table in as_tables(shown.content):
            yield tuple(_cells(entries_of(table, LIGHT)))


def _unexplained(shown: Declared) -> Iterator[str]:
    """Tokens and what sorts the rows aside: a legend or a line below is of those."""
    for table in as_tables(shown.content) if isinstance(shown.content, Table | Tables) else ():
        for at, column in enumerate(table.above if table.kind == "rows" else ()):
            cells = [row.cells[at - 1] if at else row.head for row in table.rows]
            is_said = column.explain or column.is_word or column.link or not column.title
            if not is_said and any(cell and cell.value is not None for cell in cells):
                yield column.title


def _uncounted(shown: Declared) -> Iterator[str]:
    for table in as_tables(shown.content) if isinstance(shown.content, Table | Tables) else ():
        cells = [cell for row in table.rows for cell in row.cells if cell]
        ends = [cell.ends or cell.interval for cell in cells]
        if any(each and each[0] is not None for each in ends) and not table.n_sentences:
            yield table.name


def _cells(table: Entries) -> Iterator[Cell]:
    for i, row in enumerate([*table.heads, *table.rows]):
        for j, cell in enumerate(row):
            text, shade = " / ".join(cell.lines), cell.ground[0] if cell.ground else ""
            yield Cell(i, j, text, cell.value, shade, cell.is_head, cell.is_marked)


def _payload(pane: Pane, shown: Declared) -> tuple[dict[str, Any], list[Any]] | None:
    content = shown.content
    return unpack(data_of(pane, content, LIGHT)) if isinstance(content, PictureAt) else None
