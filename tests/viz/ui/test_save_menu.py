"""The one menu of a page's files: closed it costs nothing, and open it has each exhibit's."""

from io import BytesIO
from pathlib import Path
from shlex import quote
from typing import Any
from zipfile import ZipFile

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.ui.test_app import folder, start
from viz.paper.typefaces import FAMILY, families
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


def test_figures_have_the_scale_and_the_typeface_that_are_chosen(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    makes: dict[str, Any] = {}

    def offer(title: str, make: Any, *others: Any, **named: Any) -> None:
        makes[title] = make

    monkeypatch.setattr(save_menu, "download", offer)

    def command(**query: str) -> str:
        app = opened(checkpoint="copy", text="3 8 4", picture="map", **query)
        assert not app.exception
        with ZipFile(BytesIO(makes["Figure as ZIP"]())) as crate:
            return crate.read("command.txt").decode()

    other = next(each for each in families() if each != FAMILY)
    plain = command()
    assert "--scale" not in plain and "--font" not in plain
    chosen = command(scale="linear", font=other)
    assert "--scale linear" in chosen and f"--font {quote(other)}" in chosen
    assert "--font" not in command(font="/etc/passwd.ttf")


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
