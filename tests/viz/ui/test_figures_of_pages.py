"""Every picture of the app can be taken along as a figure, or it is said here why not."""

import ast
import re
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
import streamlit as st

from tests.golden.screens import charts_in
from tests.representatives import cases
from tests.viz.places import PLACES
from tests.viz.ui.test_app import SHIPPED, start
from transformer.discover import discover
from viz.exhibits.table import Table, Tables
from viz.figure_at import page_of
from viz.painters.table_html import table_body
from viz.paper.crate import command
from viz.paper.figure import COLUMN
from viz.paper.record import address_of, read_record
from viz.screen import link, spell
from viz.state.page import Page
from viz.theme import DARK, LIGHT
from viz.ui.saving import figure_of, says_of

ROOT = Path(__file__).parents[3]
PAGES_WITHOUT = {
    "gallery": "Its small pictures are links to the screens whose figures they would be.",
    "stories": "It lists texts; a scene is a screen, whose page has the figures.",
    "lessons": "A picture there is the figure of the page that its link opens, and leads there.",
}
COMPONENTS_WITHOUT = {
    "address": "It draws nothing.",
    "change_offer": "It offers a change; what that does is seen in the pictures beside it.",
    "cell_drawing": "It holds no weight: the heads that answer what is drawn are a table.",
    "figure_drop": "It takes figures.",
    "lesson": "It keeps answers and draws nothing.",
    "question": "It is asked before its picture may be seen; Explore has that picture.",
    "scene_list": "It lists the scenes of a story, each a link to its screen.",
    "scene_fit": "It measures a scene.",
    "stage": "It hears the keys of a talk; its scenes are pages.",
    "word_card": "It is the card ahead of its figure, which follows a pin.",
    "tour": "It points at what is there, in words of its own.",
    "token_rows": "It is the field of the sentence, which a figure's own words repeat.",
}
TEXTS = {
    "cards": "links",
    "split_text": "the tokens of a text as a list of words",
    "token_lines": "two sentences that do not fit each other, as words",
    "cost_samples": "which line of the curves is which, in words",
    "cost_table": "formulas; what they come to is drawn as curves",
    "numbers_table": "the numbers of a task",
    "guess_table": "what somebody guessed, which is nowhere kept",
}
"""What viz/figures makes that is text, and so copied as text: function -> what it is."""


def test_every_page_and_component_has_figures_or_a_reason() -> None:
    pages: dict[str, Page] = discover("viz.pages", "PAGE")
    assert set(PLACES) | set(PAGES_WITHOUT) == set(pages)
    components = {each.parent.name for each in (ROOT / "viz/components").glob("*/index.js")}
    drawn = set(discover("viz.paper.drawings", "DRAWING"))
    assert drawn | set(COMPONENTS_WITHOUT) == components and not drawn & set(COMPONENTS_WITHOUT)


@cache
def trees() -> dict[str, ast.Module]:
    """Of all that may draw a chart, a table or HTML, by its file."""
    texts = {file: file.read_text("utf-8") for file in (ROOT / "viz").rglob("*.py")}
    drawing = re.compile(r"chart|pyplot|\.html|show_table")
    return {
        str(file.relative_to(ROOT)): ast.parse(text)
        for file, text in texts.items()
        if drawing.search(text)
    }


def written_as(function: ast.expr) -> str:
    """As `ast.unparse` says it, which takes long."""
    if isinstance(function, ast.Attribute):
        return f"{written_as(function.value)}.{function.attr}"
    return function.id if isinstance(function, ast.Name) else ast.unparse(function)


@cache
def calls() -> list[tuple[str, str, ast.Call]]:
    """File, name as it is written, and call."""
    return [
        (file, written_as(node.func), node)
        for file, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
    ]


def test_a_chart_is_drawn_by_what_offers_its_figure() -> None:
    """So nobody draws one beside: `show` takes an Exhibit."""
    files = {file for file, name, _ in calls() if name.endswith("plotly_chart")}
    assert files == {"viz/ui/showing.py"}
    others = r"(line|bar|area|scatter|pyplot|altair|vega_lite|bokeh|graphviz|pydeck).*chart|pyplot"
    assert not [name for _, name, _ in calls() if re.fullmatch(rf"st\.({others})", name)]
    of_figures = {
        alias.asname or alias.name
        for tree in trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("viz.figures.")
        for alias in node.names
    }
    written = {
        written_as(part.func)
        for _, name, call in calls()
        if name.endswith(".html") or name == "show_table"
        for argument in call.args
        for part in ast.walk(argument)
        if isinstance(part, ast.Call)
    }
    assert written & of_figures == set(TEXTS)


class Drawn:
    """What a page draws: the words of its charts, and its tables without links."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.charts: list[str] = []
        self.tables: list[str] = []
        chart, html = st.plotly_chart, st.html

        def draw_chart(figure: object, **look: object) -> object:
            self.charts.append(str(look["alt"]))
            return chart(figure, **look)  # type: ignore[call-overload]

        def draw_html(body: str, **look: object) -> object:
            self.charts += charts_in(body)
            self.tables.append(body)
            return html(body, **look)  # type: ignore[arg-type]

        patch.setattr(st, "plotly_chart", draw_chart)
        patch.setattr(st, "html", draw_html)


def tables_in(html: str) -> set[str]:
    """The tables of a page that are not lists, without links."""
    tables = re.findall(r'<figure class="data (?!list).*?</figure>', html, re.DOTALL)
    return {re.sub(r' href="[^"]*"', "", each) for each in tables}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One for all tests, so that what a model has answered is known to the next page."""
    found = tmp_path_factory.mktemp("of_pages")
    shutil.copytree(SHIPPED, found / "copy")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADSCOPE_CHECKPOINTS", str(found))
        yield found


EVERY = [(page, query) for page, each in PLACES.items() for query in each]
FEW = {f"what {page} shows first": (page, each[0]) for page, each in PLACES.items()} | {
    "one cell": ("explore", PLACES["explore"][1]),
    "edits": ("explore", PLACES["explore"][2]),
    "two models": ("compare", PLACES["compare"][1]),
    "many sentences": ("sweep", PLACES["sweep"][2]),
    "the lab": ("positions", PLACES["positions"][1]),
    "circuits": ("inspect", PLACES["inspect"][1]),
}


@pytest.mark.parametrize(("page", "query"), cases(EVERY, FEW))
def test_what_a_page_draws_is_among_its_figures_and_each_leads_back(
    folder: Path, monkeypatch: pytest.MonkeyPatch, page: str, query: str
) -> None:
    monkeypatch.setattr("viz.ui.progress.PATIENCE", 60.0)
    drawn = Drawn(monkeypatch)
    said = dict(parse_qsl(query)) | {"checkpoint": "copy"}
    app = start(page=page, **said)
    address = link(app.session_state["session"].screen)
    pane, figures = page_of(address_of(address))
    assert figures
    says = {says_of(pane, each) for each in figures.values()}
    assert set(drawn.charts) <= says
    contents = [each.content for each in figures.values()]
    tables = set[str]()
    for each in contents:
        if isinstance(each, Table | Tables):
            tables |= tables_in(table_body(each, LIGHT)) | tables_in(table_body(each, DARK))
    for body in drawn.tables:
        assert tables_in(body) <= tables
    for name, shown in figures.items():
        made = figure_of(pane, shown, name=name)
        screen = made.record.screen
        assert (screen.page, screen.checkpoint) == (page, "copy")
        assert {field: spell(screen).get(field) for field in said} == said
        kept = spell(app.session_state["session"].screen)  # and whatever else is chosen
        assert {field: spell(screen).get(field) for field in kept} == kept
        again, others = page_of(screen)
        sheets = [each.sheet(COLUMN) for each in (made, figure_of(again, others[name]))]
        assert sheets[0].marks and repr(sheets[0].marks) == repr(sheets[1].marks)
        assert f"--picture {name}" in command(made, COLUMN)
        assert read_record(made.record.state.encode()) == made.record
