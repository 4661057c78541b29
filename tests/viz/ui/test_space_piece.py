"""A word whose first piece is the space before it alone: words are drawn as words everywhere."""

from functools import cache

import pytest

from tests.viz.ui.test_of_word import lines
from transformer import load_checkpoint
from transformer.checkpoint import checkpoints_folder
from transformer.words import words_of
from viz.causes.studies import head_worth
from viz.components.decode_player.decode_player import DecodePlayer
from viz.components.kit.browser import unpack
from viz.components.token_rows.token_rows import TokenRows
from viz.exhibits.exhibit import Exhibit
from viz.exhibits.table import Table
from viz.figure_at import page_of
from viz.screen import parse
from viz.state.branching import decided_texts
from viz.state.page import Pane

TEXT = "The children gave us a bag of cherries."
WRITTEN = "Xylophon"
SIGN = "␣"


@cache
def begun(**choices: str) -> tuple[Pane, dict[str, Exhibit]]:
    """The text, its translation begun with another such word, which is pinned."""
    tokenizer = load_checkpoint(checkpoints_folder() / "en-de").tokenizer
    prefix = ".".join(str(id) for id in tokenizer.encode(WRITTEN)[:-1])
    choices = {"page": "explore", "decoding": "greedy", "pins": "q0", **choices}
    pane, figures = page_of(parse({"text": TEXT, "prefix": prefix, **choices}))
    return pane, dict(figures)


def joined(pieces: list[tuple[str, int, int]]) -> list[str]:
    """The words of a row as the browser draws them: what is only a space is not seen."""
    words: list[str] = []
    for text, _, begins in pieces:
        if begins or not words:
            words.append("")
        words[-1] += "" if begins == 2 else text
    return words


def test_the_pieces_are_those_of_which_this_tells() -> None:
    recording = begun()[0].recording
    assert [token.piece for token in recording.source[7:10]] == ["▁", "cher", "ries"]
    assert recording.target[0].piece == "▁"


@pytest.mark.parametrize("side", ["source", "target"])
def test_rows_of_words_are_made_of_words(side: str) -> None:
    recording = begun()[0].recording
    tokens = getattr(recording, side)
    row = unpack(TokenRows().payload(recording))[0][side]
    assert joined(row) == words_of(tokens) and len(row) == len(tokens)
    pieces = unpack(TokenRows(words=False).payload(recording))[0][side]
    assert SIGN in [text for text, *_ in pieces] and SIGN in "".join(joined(pieces))


def test_the_player_writes_words_and_keeps_pieces() -> None:
    pane, _ = begun()
    recording, decoding = pane.recording, pane.answer.decoding
    words = unpack(DecodePlayer(0, words=True).payload(recording, decoding))[0]
    assert joined(words["target"]) == words_of(recording.target)
    assert [text for text, _ in words["source"]] == words_of(recording.source)
    pieces = unpack(DecodePlayer(0, words=False).payload(recording, decoding))[0]
    assert pieces["target"][0][0] == "▁" and pieces["source"][7][0] == "▁"


def test_card_worth_and_decisions_name_the_word() -> None:
    pane, figures = begun(picture="why")
    worth = head_worth(pane, is_live=True)
    assert worth is not None and worth.word == words_of(pane.recording.target)[0]
    assert decided_texts(pane.checkpoint, pane.answer.request) == [f"Begins with “{WRITTEN}”"]
    texts = [figures[name].says for name in figures]
    assert WRITTEN in " ".join(texts) and SIGN not in " ".join(texts)


def test_what_each_cut_changes_names_the_word() -> None:
    table = begun(kind="cross", cause="ladder", pins="q0,k7")[1]["ladder"].content
    assert isinstance(table, Table)
    cells = " ".join(cell.text for row in table.rows for cell in row.cells if cell is not None)
    assert "cherries" in cells
    assert SIGN not in cells.replace(f": {SIGN}, weight", "")  # one arrow leads to one piece


def test_a_card_as_a_file_names_words() -> None:
    pane, figures = begun(kind="cross", cause="ladder", pins="q0,k7")
    rows = lines(pane, figures["why"])
    assert "cherries" in str(rows) and SIGN not in str(rows)
