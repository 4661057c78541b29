"""Every download button of every page is clicked, and the file that comes is opened."""

import ast
import csv
import io
import json
import re
import zipfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import BrowserContext, Download, Locator, Page, expect

from tests.browser.server import ROOT, painted
from tests.browser.test_app import visit
from tests.representatives import cases
from transformer.discover import discover
from viz.commands.opening import read_figure
from viz.stories.reading import read_story
from viz.talks.story_drafts import ADD

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

SNAPSHOT = min((ROOT / "checkpoints" / "copy" / "snapshots").glob("*.safetensors"))
FIGURE = "Figure as HTML"
FIGURES = ("Figure as PDF", "Figure as SVG", "Figure as PNG", "Figure as ZIP")
POSITIONS = ("encoding_curves", "encoding_shift_matrix")  # a figure of lines, and a map
ROWS = "Rows as CSV"
TYPED = "The reader can type"
"""A page whose file is HTML."""
SEARCH = ("Steps as CSV", "Coverage as CSV", "Search as CSV")
PLACES = {
    "explore": {
        "": (
            *(*FIGURES, "Heat map as HTML", "Head as CSV", "Metrics of all heads as CSV"),
            *("Word alignment as TXT", "All heads as NPZ", TYPED),
        )
    },
    "compare": {
        f"checkpoint_b={SNAPSHOT}": (FIGURE, "Heads as CSV", "Changes as CSV"),
        "edited_b=yes&same_head=yes&edits=head-off:encoder_self.0.1": (FIGURE, "Heads as CSV"),
    },
    "decode": {
        "": (*SEARCH, TYPED),
        "decode_as=text": ("Table as CSV",),
        "kind=cross&pins=q1": (*SEARCH, "Table as CSV"),
        "kind=cross&pins=q1&instead=5&repairs=yes": (
            *SEARCH,
            "Table as CSV",
            FIGURE,
            "Rows as CSV",
        ),
        "hypotheses=yes": (*SEARCH, "Hypotheses as CSV", "Table as CSV", FIGURE),
    },
    "sweep": {
        "sweep_asked=yes": ("Sweep as CSV",),
        "sweep_asked=yes&sweep_over=sentences&sweep_sentences=3+7+2%0A4+9+5": ("Sentences as CSV",),
        "experiment=patch&text=3+7+2+9&patch_from=3+8+2+9": ("Effects as CSV",),
    },
    "positions": {
        **{f"view={name}": (FIGURE,) for name in POSITIONS},
        "view=lab": (FIGURE, "Heads as CSV"),
    },
    "inspect": {
        "inspect=tensor": (FIGURE,),
        "inspect=circuits&kind_circuit=encoder_self": (),
        "": ("Modules as CSV",),
    },
    "heads": {
        "": ("Survey as CSV", "Table as CSV"),
        "heads_of=one": ("Table as CSV",),
        "heads_of=align": ("All heads as CSV",),
    },
    "masks": {"": ("Masks as CSV",)},
    "training": {
        "": ("Metrics as CSV",),
        "topic=smoothing": (FIGURE, "All pieces as CSV", "Losses as CSV"),
        "topic=rate": (FIGURE, "Rates as CSV"),
        "topic=loss": (FIGURE, "History as CSV"),
    },
    "why_attention": {"": ("Costs as CSV",)},
    "gallery": {"": ()},
    "lessons": {"": ()},
    "stories": {"": ("Save the story as MD", "Save the story as HTML")},
}
"""Page -> what is chosen there -> the files that it has then."""
MAKE = {"download", "offer_file", "Rows"}
"""Functions whose first argument is the text of a download's button."""
OF_ENCODERS = {"Vectors as CSV"}
"""The page of a model that gives a text's vector: see test_opening.py."""
NO_PAPER = {"explore", "gallery", "lessons", "stories"}
"""Pages without figures of their own; all files of Explore's are opened anyway."""
PAPERS = {name: FIGURES[at % 4] for at, name in enumerate(PLACES) if name not in NO_PAPER}
"""A page -> a file of its figure: each file is made in one way, whatever the page."""
DRAWN = ".js-plotly-plot .main-svg, [data-nonce]"
LARGEST = 160_000
"""Bytes of a page of ours with a small map; Plotly's code takes 5 million."""


@pytest.fixture(scope="module")
def reader(context: BrowserContext) -> Iterator[Page]:
    """A page without a network: of all files, as it compiles Plotly's code once."""
    page = context.new_page()
    page.route("http**", lambda route: route.abort())
    yield page
    page.close()


FEW = {"a figure, arrays, a page": "explore", "a story": "stories"}
"""What files are made of -> a page that has them."""


def test_every_download_is_among_the_places() -> None:
    assert set(PLACES) == set(discover("viz.pages", "PAGE"))
    named = {title for it in PLACES.values() for each in it.values() for title in each}
    assert named | OF_ENCODERS == titles()


@pytest.mark.parametrize("name", cases(PLACES, FEW))
def test_every_download_gives_a_file_that_opens(
    page: Page, reader: Page, address: str, tmp_path: Path, name: str
) -> None:
    """And of each page a figure for a paper."""
    buttons = page.get_by_test_id("stDownloadButton")
    for query, expected in PLACES[name].items():
        if name == "stories":
            query = f"draft={a_draft(page, address)}"
        path = "" if name == "explore" else name
        visit(page, f"{address}/{path}?checkpoint=copy&{query}")
        if name != "stories":  # a story's files are what its page is for
            open_menu(page)
        for title in expected:
            expect(buttons.filter(has_text=title).first).to_be_visible()
        painted(page)
        is_first = name in PAPERS and query == next(iter(PLACES[name]))
        expected = (*expected, *([PAPERS[name]] if is_first else []))
        for button in buttons.get_by_role("button").all():
            title = next(filter(button.inner_text().endswith, (*expected, *FIGURES, TYPED)))
            if title in expected:
                check(downloaded(page, button), title, reader, tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize("name", PAPERS)
def test_every_figure_for_a_paper_opens(
    page: Page, reader: Page, address: str, tmp_path: Path, name: str
) -> None:
    """Of each page all files of the first, of what else is there one."""
    for at, (query, expected) in enumerate(PLACES[name].items()):
        visit(page, f"{address}/{name}?checkpoint=copy&{query}")
        open_menu(page)
        for title in expected:
            if title != ROWS:
                titled = page.get_by_test_id("stDownloadButton").filter(has_text=title)
                expect(titled.first).to_be_visible()
        painted(page)
        if expected != ("Modules as CSV",):
            for title in FIGURES[: 1 if at else None]:
                button = page.get_by_test_id("stDownloadButton").filter(has_text=title).first
                check(downloaded(page, button.get_by_role("button")), title, reader, tmp_path)


def open_menu(page: Page) -> None:
    page.get_by_test_id("stPopover").filter(has_text="Save").get_by_role("button").click()


def titles() -> set[str]:
    """Of all download buttons in the code: what is handed on was said where it was made."""
    every = set()
    for file in (ROOT / "viz").rglob("*.py"):
        nodes = [*ast.walk(ast.parse(file.read_text("utf-8")))]
        texts = dict(chain.from_iterable(_texts(it) for it in nodes if isinstance(it, ast.Assign)))
        calls = (it for it in nodes if isinstance(it, ast.Call) and isinstance(it.func, ast.Name))
        for first in (it.args[0] for it in calls if ast.unparse(it.func) in MAKE):
            every.add(texts.get(ast.unparse(first)) or getattr(first, "value", None))
    return {it for it in every if isinstance(it, str)}


def _texts(node: ast.Assign) -> Iterator[tuple[str, str]]:
    """Names with the texts that they are given, as in `CSV, FILE = "Sweep as CSV", "sweep.csv"`."""
    to, value = node.targets[0], node.value
    is_many = isinstance(to, ast.Tuple) and isinstance(value, ast.Tuple)
    for name, each in zip(to.elts, value.elts, strict=True) if is_many else [(to, value)]:
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield ast.unparse(name), each.value


def a_draft(page: Page, address: str) -> str:
    """The code of a story with one scene."""
    visit(page, f"{address}/?checkpoint=copy")
    open_menu(page)
    painted(page)
    page.get_by_role("button", name=ADD).click()
    page.wait_for_function("new URLSearchParams(location.search).get('draft')")
    return str(page.evaluate("new URLSearchParams(location.search).get('draft')"))


def downloaded(page: Page, button: Locator) -> Download:
    with page.expect_download() as waiting:
        button.click()
    return waiting.value


def check(download: Download, title: str, reader: Page, folder: Path) -> None:
    """Assert that a file is what its name and its button say."""
    name = download.suggested_filename
    file = folder / name
    download.save_as(file)
    kind = "html" if title == TYPED else title.rpartition(" ")[2].lower()
    assert file.suffix == f".{kind}"
    {
        "md": check_story,
        "csv": check_table,
        "npz": check_arrays,
        "txt": check_alignment,
        "html": lambda it: check_page(it, reader),
        **dict.fromkeys(("pdf", "svg", "png"), check_figure),
        "zip": check_crate,
    }[kind](file)
    if title == "Heat map as HTML":
        assert file.stat().st_size < LARGEST


def check_story(file: Path) -> None:
    assert read_story(file.read_text("utf-8"), file.name).scenes


def check_table(file: Path) -> None:
    header, *rows = csv.reader(io.StringIO(file.read_text("utf-8"), newline=""))
    assert rows
    assert {len(row) for row in rows} == {len(header)}


def check_alignment(file: Path) -> None:
    rule, links = file.read_text("utf-8").splitlines()
    assert rule.startswith("# ")
    assert all(re.fullmatch(r"\d+-\d+", link) for link in links.split())


def check_arrays(file: Path) -> None:
    with np.load(file) as arrays:
        kinds = set(arrays) - {"tokens"}
        assert "tokens" in arrays and kinds
        assert all(arrays[kind].ndim == 4 for kind in kinds)


def check_figure(file: Path) -> None:
    found = read_figure(str(file)).screen
    assert found.checkpoint == "copy" and found.made_with
    starts = {".pdf": b"%PDF-", ".svg": b"<?xml", ".png": b"\x89PNG"}
    assert file.read_bytes().startswith(starts[file.suffix])


def check_crate(file: Path) -> None:
    with zipfile.ZipFile(file) as archive:
        said = json.loads(archive.read("ro-crate-metadata.json"))
        assert {"figure.svg", "figure.pdf", "numbers.csv"} <= set(archive.namelist())
    assert said["@context"].endswith("/context")


def check_page(file: Path, reader: Page) -> None:
    reader.goto(file.as_uri())
    expect(reader.locator(DRAWN).first).to_be_visible()
