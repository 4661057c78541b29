"""A picture of a notebook as a figure: the choices, the caption and the numbers of the shell's."""

import csv
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.viz.conftest import with_nasty_words
from tests.viz.paper.test_typefaces import use
from transformer import InputError, decode, load_checkpoint, record
from transformer.checkpoint import checkpoints_folder
from transformer.fingerprint import DIGITS, fingerprint
from transformer.recording import Recording
from viz import Picture, cell_steps, decode_player, head_grid, head_map, head_view, search_tree
from viz.paper.figure import Figure, rows
from viz.paper.record import FigureError
from viz.paper.sheet import Cells, Line, Words

TEXT = "It rains."
EN_DE = checkpoints_folder() / "en-de"


@pytest.fixture(scope="module")
def pictures() -> dict[str, Picture]:
    """Every picture of a greedy translation, and the tree of a beam search."""
    checkpoint = load_checkpoint(EN_DE, "cpu")
    decoding = decode(checkpoint, TEXT)
    recording = record(checkpoint, TEXT, decoding.target)
    return {
        "head_map": head_map(recording, "cross", 1, 0),
        "head_grid": head_grid(recording, "cross"),
        "head_view": head_view(recording, "cross", 1),
        "cell_steps": cell_steps(recording, "cross", 1, 0, 0, 0),
        "decode_player": decode_player(decoding, recording),
        "search_tree": search_tree(decode(checkpoint, TEXT, method="beam")),
    }


def words_of(figure: Figure) -> list[str]:
    return [it.text for it in figure.sheet(6.9).marks if isinstance(it, Words)]


def test_a_caption_says_what_it_is_of(pictures: dict[str, Picture]) -> None:
    digest = fingerprint(EN_DE)[:DIGITS]
    for name, picture in pictures.items():
        record = picture.on_paper().record
        assert {TEXT, digest, "English to German", "en-de"} <= set(
            re.findall(rf"{re.escape(TEXT)}|{digest}|English to German|en-de", record.caption)
        ), name
        assert (picture.title in record.caption and "counted from 0" in record.caption) or (
            name == "search_tree"
        ), name
        assert record.written and record.written in record.caption, name
        assert picture.svg(3.3).startswith(b"<?xml"), name
    tree = pictures["search_tree"].on_paper().record.caption
    assert "beam search with beam size 4" in tree
    own = pictures["head_map"].on_paper(caption="Mine.", checkpoint="run 7").record
    assert (own.caption, own.title) == ("Mine.", f"run 7 · {pictures['head_map'].title}")
    named = pictures["head_map"].on_paper(checkpoint="run 7").record.caption
    assert "of the checkpoint run 7 (" in named


def test_pieces_become_words(pictures: dict[str, Picture]) -> None:
    pieces, words = (pictures["head_map"].on_paper(words=it) for it in (False, True))
    assert "single tokens" in pieces.record.caption
    assert "single tokens" not in words.record.caption
    n = [len(rows(each.sheet(3.3), each.maps())) for each in (pieces, words)]
    assert n[1] < n[0], "the pieces of a word are one row"
    assert set(words_of(words)) - set(words_of(pieces))


def test_a_linear_scale_is_even_and_says_so(pictures: dict[str, Picture]) -> None:
    for name, kind in (("head_map", Cells), ("head_grid", Cells), ("decode_player", Cells)):
        figures = [pictures[name].on_paper(scale=it) for it in ("root", "linear")]
        assert ["square root" in each.record.caption for each in figures] == [True, False], name
        text = [" ".join(words_of(each)) for each in figures]
        assert ["square-root scale" in each for each in text] == [True, False], name
        root, linear = (
            next(it.levels for it in each.sheet(6.9).marks if isinstance(it, kind))
            for each in figures
        )
        seen = (root >= 0) & (root <= 255)
        assert seen.any()
        np.testing.assert_allclose(linear[seen], root[seen] ** 2.0 / 255, atol=2.5)
    lines = [
        {
            it.facts["weight"]: it.opacity
            for it in figure.sheet(3.3).marks
            if isinstance(it, Line) and it.facts
        }
        for figure in (pictures["head_view"].on_paper(scale=it) for it in ("root", "linear"))
    ]
    for weight, opacity in lines[1].items():
        assert opacity == pytest.approx(min(1, weight)) == pytest.approx(lines[0][weight] ** 2)


def test_the_numbers_lie_beside_it(pictures: dict[str, Picture], tmp_path: Path) -> None:
    picture = pictures["head_map"]
    picture.save(tmp_path / "a.svg", data=tmp_path / "a.csv", words=False)
    found = list(csv.DictReader((tmp_path / "a.csv").read_text("utf-8-sig").splitlines()))
    drawn = rows(picture.on_paper(words=False).sheet(3.3))
    assert [float(it["weight"]) for it in found] == pytest.approx([it["weight"] for it in drawn])
    assert found[0]["key_piece"] == "▁It"
    picture.save(tmp_path / "b.png", data=tmp_path / "b.npz")
    assert "cross" in " ".join(np.load(tmp_path / "b.npz").files)
    assert picture.png(slide=True)[:4] == b"\x89PNG" and picture.on_paper(slide=True).is_slide


@pytest.mark.parametrize(
    ("look", "why"),
    [
        ({"scale": "log"}, "log"),
        ({"colour": "red"}, "colour"),
        ({"data": "a.xls"}, "xls"),
        ({"font": "No Such Family"}, "No Such Family"),
    ],
)
def test_what_a_figure_cannot_be_ends_in_a_sentence(
    pictures: dict[str, Picture], tmp_path: Path, look: dict[str, Any], why: str
) -> None:
    with pytest.raises(FigureError, match=why):
        pictures["head_map"].save(tmp_path / "a.svg", **look)
    assert not list(tmp_path.iterdir())


def test_letters_that_are_boxes_are_warned_of(
    recording: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch)
    picture = head_map(with_nasty_words(recording, ["注意"]), "encoder_self")
    with pytest.warns(UserWarning, match="Noto Sans CJK") as warned:
        picture.save(tmp_path / "a.svg")
    assert warned[0].filename == __file__


@pytest.mark.parametrize("lens", ["weight", "value_norm"])
def test_a_grid_of_numbers_says_nothing_of_how_maps_are_read(
    pictures: dict[str, Picture], lens: str
) -> None:
    """A metric is of tokens and of weights, whatever the words and the lens."""
    paper = pictures["head_map"].paper
    assert paper is not None and paper.recording is not None
    recording = paper.recording
    plain, chosen = (
        head_grid(recording, "cross", show="entropy", lens=a, words=b).on_paper()
        for a, b in (("weight", False), (lens, True))
    )
    assert chosen.record.caption == plain.record.caption
    assert rows(chosen.sheet(3.3)) == rows(plain.sheet(3.3))
    maps = head_grid(recording, "cross", lens=lens, words=True).on_paper().record.caption
    assert "query pieces" in maps and ("in place of" in maps) == (lens != "weight")


def test_a_figure_shows_the_step_that_is_chosen(pictures: dict[str, Picture]) -> None:
    paper = pictures["decode_player"].paper
    assert paper is not None and paper.decoding is not None
    n = len(paper.decoding.steps)
    for step in (1, -1):
        picture = decode_player(paper.decoding, paper.recording, step=step)
        assert f"Step {step % n + 1} of {n}" in picture.on_paper().record.caption
        assert picture.html != pictures["decode_player"].html
    with pytest.raises(InputError, match=f"0 to {n - 1}"):
        decode_player(paper.decoding, paper.recording, step=n)


def test_a_cell_names_its_tokens_as_words_do(pictures: dict[str, Picture]) -> None:
    paper = pictures["cell_steps"].paper
    assert paper is not None and paper.recording is not None
    picture = cell_steps(paper.recording, "cross", 1, 0, 0, 0, words=True)
    assert picture.svg() == pictures["cell_steps"].svg(words=True)


def test_choices_of_a_figure_are_refused_for_a_page(
    pictures: dict[str, Picture], tmp_path: Path
) -> None:
    with pytest.raises(FigureError, match=r"words.*a\.html"):
        pictures["head_map"].save(tmp_path / "a.html", words=True)
    assert not list(tmp_path.iterdir())
