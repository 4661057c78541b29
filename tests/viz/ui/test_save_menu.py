"""The one menu of a page's files: closed it costs nothing, and open it has each exhibit's."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.ui.test_app import folder, start
from viz.ui import save_menu

__all__ = ["folder"]
LOSS = {"page": "training", "checkpoint": "copy", "topic": "loss"}
FIGURES = ["Figure as PDF", "Figure as SVG", "Figure as PNG", "Figure as ZIP"]


def opened(**query: str) -> AppTest:
    return start("save", **query)


def titles(app: AppTest) -> list[str]:
    return [each.proto.label for each in app.get("download_button")]


def test_a_page_has_one_button_for_all_its_files(folder: Path) -> None:
    app = start(**LOSS)
    assert titles(app) == []
    assert [each.proto.popover.label for each in app.get("popover")].count("Save") == 1


def test_each_exhibit_has_its_files_below_its_title(folder: Path) -> None:
    app = opened(**LOSS)
    headings = {each.value for each in app.markdown}
    assert {"**Loss**", "**Validation scores**"} <= headings
    loss = [*FIGURES, "Figure as HTML", "History as CSV"]
    assert titles(app) == [*loss, *FIGURES, "Figure as HTML"]


def test_no_file_is_made_before_somebody_asks_for_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []
    monkeypatch.setattr(save_menu, "figure_of", lambda *of, **more: made.append(of))
    opened(checkpoint="copy")
    assert made == []


def test_a_page_without_files_says_so(folder: Path) -> None:
    app = opened(page="gallery")
    assert save_menu.NONE in [each.value for each in app.caption]


def test_a_page_that_an_engine_answers_is_offered_for_readers_who_type(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def typed(**query: str) -> list[bool]:
        every = opened(**query).get("download_button")
        title = "The reader can type"
        return [each.proto.disabled for each in every if each.proto.label == title]

    text = {"checkpoint": "copy", "text": "3 8 4"}
    assert typed(**text) == typed(**text, page="decode") == [False]
    assert typed(**text, lens="value_norm") == typed(**text, edits="head-scale:cross.0.1=0.5")
    assert typed(**text, lens="value_norm") == [True]
    assert typed(**text, page="masks") == []
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "yes")
    assert typed(**text) == []
