"""Tables in a notebook are those of the app, with the numbers of the values that they are given."""

import re
from csv import DictReader
from pathlib import Path

import pytest

from transformer import __version__, decode, evidence, load_checkpoint, record, survey
from transformer.causes import Evidence
from transformer.checkpoint import Checkpoint
from transformer.inputs import InputError
from viz import head_map, heads_table, panels, search_tree, word_card
from viz.paper.record import FigureError

TEXT = "The bank on the river was full of flowers."


@pytest.fixture(scope="module")
def checkpoint() -> Checkpoint:
    return load_checkpoint("checkpoints/en-de-1", "cpu")


@pytest.fixture(scope="module")
def found(checkpoint: Checkpoint) -> Evidence:
    return evidence(checkpoint, TEXT)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_card_has_the_costs_of_its_word(found: Evidence, theme: str) -> None:
    page = word_card(found, "dem", theme=theme).html
    row = [word.strip() for word in found.target_words].index("dem")
    assert f"{float(found.hidden[row].max()):.2f}" in page
    assert "river" in page and "http" not in re.sub(r'http-equiv="[^"]*"', "", page)


def test_a_word_by_its_number_is_the_word_by_its_text(found: Evidence) -> None:
    words = [word.strip() for word in found.target_words]
    assert word_card(found, words.index("dem")) == word_card(found, "dem")


@pytest.mark.parametrize("word", ["Haus", 99, -1])
def test_a_word_that_is_not_written_is_refused(found: Evidence, word: int | str) -> None:
    with pytest.raises(InputError, match="No written word"):
        word_card(found, word)


def test_every_head_of_a_survey_has_a_row(checkpoint: Checkpoint) -> None:
    page = heads_table(survey(checkpoint, [TEXT, "It rains."]), theme="light").html
    assert page.count("<tr") == 2 + 72  # the heads of the columns, and what they mean
    assert "Cross L2 H3" in page


def test_heads_are_saved_with_intervals_and_n(checkpoint: Checkpoint, tmp_path: Path) -> None:
    """As CSV with every number, and as LaTeX, where nothing is left that LaTeX would read."""
    of = survey(checkpoint, [TEXT, "It rains.", "Tom and Anna live in Boston."])
    rows = [*DictReader(heads_table(of).save(tmp_path / "t.csv").read_text("utf-8").splitlines())]
    assert len(rows) == 72
    for row, head in zip(rows, of.heads, strict=True):
        assert (row["kind"], int(row["layer"]), int(row["head"])) == (
            head.kind,
            head.layer,
            head.head,
        )
        ends = [float(row[f"entropy{end}"]) for end in ("", "_low", "_high", "_n")]
        entropy = head.numbers["entropy"]
        assert ends == [entropy.mean, entropy.low, entropy.high, 3]
    numbers = ["end", "aligns_written", "entropy"]
    table = heads_table(of, numbers=numbers).save(tmp_path / "t.tex").read_text("utf-8")
    head, *lines = [line for line in table.splitlines() if line.endswith(r"\\")]
    assert len(lines) == 72 and {line.count(" & ") for line in (head, *lines)} == {4}
    assert "= 3)" in head and not re.search(r"(?<!\\)[%_#]", "".join(lines))
    cross = of.of("cross", 2, 3).numbers["entropy"]
    assert f"{cross.mean:.2f}" in lines[-5] and f"({cross.low:.2f} to {cross.high:.2f}" in lines[-5]
    assert r"end token (\%, $n$ = 3)" in head and r"\%" not in "".join(lines)
    assert "booktabs" in table and __version__ in table
    with pytest.raises(InputError, match=r"entropie.*give entropy\."):
        heads_table(of, numbers=["entropy", "entropie"])
    with pytest.raises(InputError, match=r"some of .*entropy"):
        heads_table(of, numbers=["x"])


def test_the_survey_beside_a_checkpoint_is_opened_by_its_name(tmp_path: Path) -> None:
    table = heads_table("en-de-1", numbers=["worth"]).save(tmp_path / "t.tex").read_text("utf-8")
    assert "checkpoint en-de-1, SHA-256 " in table and table.count("nats") == 1
    with pytest.raises(InputError, match="bare has no survey"):
        heads_table(tmp_path / "bare")


def test_a_theme_that_there_is_not_is_refused(found: Evidence) -> None:
    with pytest.raises(ValueError, match="auto, light, dark"):
        word_card(found, theme="blue")  # type: ignore[arg-type]


def test_a_tree_is_a_page_of_its_own(checkpoint: Checkpoint) -> None:
    shown = search_tree(decode(checkpoint, "It rains.", method="beam"))
    assert "<iframe" in shown._repr_html_()
    assert "search_tree" in shown.html


def test_a_card_is_a_figure(found: Evidence, checkpoint: Checkpoint, tmp_path: Path) -> None:
    """With the costs of its word, what it is of, and a place among panels."""
    card = word_card(found, "dem")
    row = [word.strip() for word in found.target_words].index("dem")
    file = card.save(tmp_path / "c.svg", data=tmp_path / "c.csv", words=True)
    assert f"{float(found.hidden[row].max()):.2f}" in file.read_text("utf-8")
    numbers = [*DictReader((tmp_path / "c.csv").read_text("utf-8-sig").splitlines())]
    assert float(found.hidden[row].max()) in [pytest.approx(float(it["value"])) for it in numbers]
    caption = card.on_paper().record.caption
    assert TEXT in caption and "en-de-1" in caption and "SHA-256" in caption
    both = panels([card, head_map(record(checkpoint, TEXT, found.target))], tmp_path / "p.svg")
    assert "river" in both.read_text("utf-8")
    with pytest.raises(FigureError, match="words"):
        card.save(tmp_path / "pieces.svg", words=False)
