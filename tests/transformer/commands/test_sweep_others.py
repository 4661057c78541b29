"""A sweep says in how many sentences something else comes out only where something is chosen."""

import re
from pathlib import Path

import pytest

from tests.transformer.watch.hugging_face import build
from transformer import load_checkpoint
from transformer.__main__ import main
from transformer.analysis.scored import Output, output_of
from viz.figures.sweeps import MeanOff, means_table

IDS = "5 9 12"
LINE = re.compile(r"(over|other (\w+) in \d+ % of) \d+ sentences?$", re.M)


def others_of(
    checkpoint: str, text: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> set[str]:
    (folder / "lines.txt").write_text(f"{text}\n")
    assert main(["sweep", checkpoint, "--data", str(folder / "lines.txt")]) == 0
    return {match[2] or "" for match in LINE.finditer(capsys.readouterr().out)}


@pytest.mark.parametrize(
    ("checkpoint", "text", "others"), [("copy", "3 7 2", "words"), ("sentiment", "bad", "classes")]
)
def test_a_writer_writes_words_and_a_classifier_chooses_classes(
    checkpoint: str,
    text: str,
    others: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert others_of(checkpoint, text, tmp_path, capsys) == {others}


@pytest.fixture
def encoder(tmp_path: Path) -> Path:
    folder = tmp_path / "encoder"
    build("BERT").base_model.save_pretrained(folder)  # type: ignore[operator, union-attr]
    return folder


def test_a_vector_is_nothing_that_is_chosen(
    encoder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert others_of(str(encoder), IDS, tmp_path, capsys) == {""}
    assert output_of(load_checkpoint(encoder, "cpu"), IDS, None).others == ""


def test_each_output_has_its_own_name() -> None:
    assert Output("a", None, (), classes=("x", "y")).others == "classes"
    assert Output("a", None, (), numbers=("x",)).others == ""
    assert Output("a", None, (), places=(1,)).others == "tokens"
    assert Output("a", None, ()).others == "words"


@pytest.mark.parametrize("others", ["words", "tokens", "classes", ""])
def test_the_table_on_the_screen_has_the_same_column(others: str) -> None:
    table = means_table([MeanOff("L0 H0", "./", 0.5, 0.1, 0.9, 0.25)], "nats", 3, others)
    titles = [each.title for each in table.columns]
    assert (f"other {others}" in titles) is bool(others)
    assert all(len(row.cells) + 1 == len(titles) for row in table.rows)
    assert any(cell.text == "25 %" for row in table.rows for cell in row.cells) is bool(others)
