"""Figures of a recording whose words are hostile, as components are sent them."""

from collections.abc import Callable

import pytest

from tests.viz.conftest import with_nasty_words
from transformer.analysis.reading import Reading, Selection
from transformer.recording import Recording
from viz.components.cell_steps.cell_steps import CellSteps
from viz.components.head_grid.head_grid import HeadGrid
from viz.components.head_map.head_map import HeadMap
from viz.components.head_view.head_view import HeadView
from viz.paper.figure import Figure, of_component
from viz.paper.record import Record
from viz.theme import LIGHT, Theme

WORDS = (
    "<b>",
    "]]>",
    "$x_1$",
    "=1+1",
    "a\u202eb",
    "😀",
    "日本語",
    "x" * 300,
    "&#x0;",
    "\"'",
    "▁Straße",
)
"""Pieces that HTML, XML, TeX or a spreadsheet would read as something else, and rare letters."""
HOSTILE = " ".join(WORDS)
PICTURES = ("head_view", "head_map", "head_grid", "cell_steps")


@pytest.fixture(scope="session")
def record() -> Record:
    said = {"page": "explore", "query": "kind=cross&text=%3Cb%3E", "checkpoint": "random"}
    texts = {"text": HOSTILE, "written": HOSTILE, "title": HOSTILE, "caption": HOSTILE}
    return Record(**said, **texts, sha256="0" * 64, versions={"python": "3"})


@pytest.fixture(scope="session")
def hostile(recorder: Callable[[int, int], Recording]) -> Recording:
    return with_nasty_words(recorder(len(WORDS), len(WORDS) - 1), WORDS)


@pytest.fixture(scope="session")
def figure_of(hostile: Recording, record: Record) -> Callable[..., Figure]:
    """(component, lens, theme, **state) -> its figure."""

    def made(name: str, lens: str = "weight", theme: Theme = LIGHT, **state: object) -> Figure:
        reading = Reading(lens=lens)
        pictures = {
            "head_view": HeadView("cross", 1, reading),
            "head_map": HeadMap(Selection("cross", 1, 0), reading),
            "cell_steps": CellSteps(Selection("cross", 1, 0)),
            "head_grid": HeadGrid(tuple(hostile.attentions), reading),
        }
        shown = pictures[name]
        chosen = {"head": 0, "lines": 0} if name == "head_view" else {}
        data = shown.data(shown.payload(hostile), theme, **(chosen | state))  # type: ignore[attr-defined]
        return of_component(name, data, record)

    return made
