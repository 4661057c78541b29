"""The card of a written word that is pinned: on every page the numbers of `evidence`."""

from pathlib import Path
from threading import Event

import pytest
import torch

from tests.transformer.watch.hugging_face import build
from tests.viz.ui.test_app import start
from transformer import InputError, load_checkpoint
from transformer.analysis.reading import read
from transformer.causes import evidence
from transformer.checkpoint import checkpoints_folder
from viz.causes.needs import Causes
from viz.components.kit.picture import sides
from viz.exhibits.exhibit import Exhibit, Words
from viz.exhibits.table import Table, Tables
from viz.figure_at import page_of
from viz.pages.explore import PAGE
from viz.run.cache import CACHE
from viz.screen import parse
from viz.state.page import Pane

RIVER = "The bank on the river was full of flowers."


def card(page: str, **choices: str) -> tuple[Pane, dict[str, Exhibit]]:
    pane, figures = page_of(parse({"page": page, "decoding": "greedy", **choices}))
    return pane, dict(figures)


def tables(exhibit: Exhibit) -> list[Table]:
    assert isinstance(exhibit.content, Tables)
    return list(exhibit.content)


def values(table: Table, name: str) -> torch.Tensor:
    (row,) = [row for row in table.rows if row.head.text == name]
    cells = [cell.value for cell in row.cells if cell is not None]
    return torch.tensor(cells, dtype=torch.float64)


def marked(table: Table, name: str) -> list[str]:
    (row,) = [row for row in table.rows if row.head.text == name]
    pairs = zip(row.cells, table.above[1:], strict=True)
    return [column.title for cell, column in pairs if cell is not None and cell.is_marked]


@pytest.mark.parametrize("page", ["explore", "decode"])
def test_dem_looks_at_the_and_needs_river(page: str) -> None:
    _, figures = card(page, checkpoint="en-de-1", text=RIVER, kind="cross", pins="q3")
    source, prefix = tables(figures["why"])
    assert marked(source, "looks at") == ["the"] and marked(source, "hidden") == ["river"]
    assert values(source, "hidden")[4] == pytest.approx(2.34, abs=0.01)
    assert values(source, "cut")[3] == pytest.approx(0.08, abs=0.01)
    assert [column.title for column in prefix.above] == ["", "Die", "Bank", "auf"]
    words = figures["verdict"].content
    assert isinstance(words, Words)
    (line,) = words.lines
    assert "“river”" in line.spans[0].text and line.spans[0].value == pytest.approx(2.34, abs=0.01)
    assert "“der”." in [span.text for span in words.foot]


@pytest.mark.parametrize(
    ("name", "text", "pin", "word", "n_rows"),
    [
        ("copy", "3 7 2 9", "q1", 1, 3),
        ("en-de-small", "Tom lives in Boston.", "q0", 0, 3),
        ("everyday", "She told me that she", "q8", 2, 2),
    ],
)
def test_a_card_has_the_numbers_of_evidence(
    name: str, text: str, pin: str, word: int, n_rows: int
) -> None:
    kind = "decoder_self" if n_rows == 2 else "cross"
    pane, figures = card("explore", checkpoint=name, text=text, kind=kind, pins=pin)
    checkpoint = load_checkpoint(checkpoints_folder() / name, "cpu")
    result = evidence(checkpoint, text, pane.recording.target)
    source, *more = tables(figures["why"])
    assert len(source.rows) == n_rows and len(more) == (word > 0)
    for row, matrix in (("looks at", result.weights), ("hidden", result.hidden)):
        assert matrix is not None
        torch.testing.assert_close(values(source, row), matrix[word], atol=1e-5, rtol=1e-4)
    for table in more:
        assert result.prefix is not None
        held = result.prefix[word, :word]
        torch.testing.assert_close(values(table, "replaced"), held, atol=1e-5, rtol=1e-4)


def test_the_card_is_a_picture_by_itself() -> None:
    choices = {"checkpoint": "copy", "text": "3 7 2 9", "kind": "cross", "picture": "why"}
    pane, figures = card("explore", pins="q1", **choices)
    content = figures["why"].content
    assert next(iter(figures)) == "why" and "picture" not in figures
    assert list(PAGE.main(pane)) == ["why"] and isinstance(content, Tables)
    verdict = figures["verdict"].content
    assert isinstance(verdict, Words) and content.title == verdict.lines[0].plain
    pane, figures = card("explore", **choices)
    assert list(PAGE.main(pane)) == ["picture"] and "why" not in figures
    _, figures = card("decode", pins="q1", **choices)
    assert not figures["why"].is_main, "the place of the large picture is Explore's"


@pytest.mark.parametrize("lens", ["weight", "hidden"])
def test_a_card_that_is_not_whole_is_watched_once(
    lens: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two who watch one study would have two buttons of one name."""
    ends = Event()

    def wait(*at: object, **how: object) -> None:
        ends.wait(30)
        raise InputError("It was never to be whole.")

    monkeypatch.setattr("viz.causes.needs.evidence_beside", wait)
    monkeypatch.setattr("viz.ui.progress.PATIENCE", 0.0)
    text = {"checkpoint": "copy", "text": "3 7 2 9 5", "kind": "cross"}
    app = start(picture="why", pins="q1", lens=lens, **text)
    ends.set()
    assert [button.label for button in app.button].count("Stop") == 1


@pytest.mark.parametrize("page", ["compare", "sweep", "positions", "masks"])
def test_a_pinned_word_has_its_card_on_every_page(page: str) -> None:
    """It offers to hide the word that is needed; there is none where nothing is pinned."""
    text = {"checkpoint": "copy", "text": "3 7 2 9", "kind": "cross"}
    for pins, n in ({"pins": "q1"}, 1), ({}, 0):
        app = start(page=page, **text, **pins)
        assert [each.label for each in app.button].count("Hide “7”") == n


def test_no_card_where_no_written_word_is_pinned() -> None:
    for choices in ({}, {"kind": "encoder_self", "pins": "q1"}, {"kind": "cross", "pins": "k1"}):
        _, figures = card("explore", checkpoint="copy", text="3 7 2 9", **choices)
        assert not {"why", "verdict"} & set(figures)


def test_a_long_text_asks_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viz.causes.needs.MOST_WORDS", 3)
    choices = {"checkpoint": "copy", "text": "3 7 2 9", "kind": "cross", "pins": "q1"}
    assert "why" not in card("explore", **choices)[1]
    assert "why" in card("explore", why="yes", **choices)[1]


@pytest.mark.parametrize("family", ["GPT-2", "BART"])
def test_a_model_that_runs_word_by_word_asks_first(tmp_path: Path, family: str) -> None:
    folder = tmp_path / family
    build(family).save_pretrained(folder)
    kind = "decoder_self" if family == "GPT-2" else "cross"
    choices = {"checkpoint": str(folder), "text": "7 9 11", "kind": kind, "options.max_len": "8"}
    pane, _ = card("explore", **choices)
    place = sides(read(pane.recording, kind, pane.reading))["rows"]["target"][0]
    assert "why" not in card("explore", pins=f"q{place}", **choices)[1]
    _, figures = card("explore", pins=f"q{place}", why="yes", **choices)
    result = evidence(pane.checkpoint, "7 9 11", pane.recording.target)
    hidden = values(tables(figures["why"])[0], "hidden")
    torch.testing.assert_close(hidden, result.hidden[0], atol=1e-4, rtol=1e-3)


def test_edits_in_force_stay_so() -> None:
    choices = {"checkpoint": "copy", "text": "3 7 2 9", "kind": "cross", "pins": "q1"}
    plain, edited = (
        values(tables(card("explore", edits=edits, **choices)[1]["why"])[0], "hidden")
        for edits in ("", "head-off:cross.1.0")
    )
    assert not torch.allclose(plain, edited, atol=1e-3)


def test_what_cannot_be_hidden_leaves_the_other_figures() -> None:
    edits = "hide:source.0/hide:source.1/hide:source.2/hide:source.3"
    choices = {"checkpoint": "copy", "text": "3 7 2 9", "kind": "cross", "pins": "q0"}
    assert "picture" in card("explore", edits=edits, **choices)[1]


def test_a_card_that_the_cache_has_let_go_is_not_drawn_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = start(checkpoint="copy", text="3 7 2 9 4 6", kind="cross", pins="q1")
    study = Causes(app.session_state["session"].answer.request)
    # Put back, it is drawn once more, for the marks; of 0 bytes it cannot be put back.
    for most, n in ((CACHE.most_bytes, 2), (0, 1)):
        monkeypatch.setattr(CACHE, "most_bytes", most)
        CACHE._drop(study)
        drawn = []
        put = drawn.append
        monkeypatch.setattr("viz.causes.card.show_card", lambda *at, put=put: put(at))
        app.run()
        assert not app.exception and len(drawn) == n
    assert not list(app.get("error"))
