"""The looks that all pages share stand there once: what is drawn brings none along."""

import pytest
import streamlit as st

from viz.exhibits.exhibit import Line, Span, Words
from viz.exhibits.table import Cell, Column, Row, Table
from viz.pages.heads import PAGE
from viz.painters.table_html import class_of
from viz.theme import LIGHT
from viz.ui.showing import show_table, show_words
from viz.ui.style import style

SHADED = Table("t", [Column(), Column("a")], [Row(Cell("x"), [Cell("1", shade=1.0)])])


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    bodies: list[str] = []
    monkeypatch.setattr(st, "html", lambda body, **look: bodies.append(body))
    monkeypatch.setattr("viz.ui.style.current_theme", lambda: LIGHT)
    monkeypatch.setattr("viz.ui.showing._theme", lambda: LIGHT)
    return bodies


def test_tables_and_words_have_no_style_of_their_own_on_a_page(drawn: list[str]) -> None:
    show_table(SHADED)
    show_words(Words([Line([Span("a")])]))
    assert len(drawn) == 2
    assert not any("<style" in body for body in drawn)


def test_a_page_has_the_looks_of_tables_in_every_shade_and_of_words(drawn: list[str]) -> None:
    style(PAGE, [PAGE])
    (page,) = drawn
    assert ".data.rows" in page and ".text-lines" in page
    for scale, last in (("share", 16), ("signed", 32)):
        assert f".data td.{class_of(scale, 0)} " in page  # type: ignore[arg-type]
        assert f".data td.{class_of(scale, last)} " in page  # type: ignore[arg-type]
        assert f".data td.{class_of(scale, last + 1)} " not in page  # type: ignore[arg-type]
