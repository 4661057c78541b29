"""Long sentences and Tatoeba by length: rows of the right sentences, ratio and loops."""

from pathlib import Path

import pytest

from tests.conftest import SENTENCES
from transformer import Checkpoint
from transformer.training.evaluation import parts as long
from transformer.training.evaluation.parts import LONG, ROWS, by_length, evaluate_long
from transformer.training.translation import PAIRS, TESTS, MissingData

LENGTHS = {6: "up to 6", 7: "7 to 10", 10: "7 to 10", 11: "11 to 15", 15: "11 to 15", 16: "over 15"}


@pytest.mark.parametrize(("n", "row"), LENGTHS.items())
def test_a_sentence_is_in_the_row_of_its_words(n: int, row: str) -> None:
    texts = [" ".join(["word"] * n), "ein Satz von fünf Wörtern"]
    assert by_length([texts], texts[1:]) == {row: {"sentences": 1, "BLEU": pytest.approx(100)}}


def test_rows_are_scored_apart() -> None:
    target = "das ist ein ganzer Satz"
    rows = [["a b c", target], ["a " * 20, target], ["a b", target]]
    scores = by_length(rows, [target, "nichts davon stimmt hier", target])
    assert scores.keys() == {"up to 6", "over 15"}
    assert scores["up to 6"] == {"sentences": 2, "BLEU": pytest.approx(100)}
    assert scores["over 15"]["BLEU"] < 20


@pytest.fixture
def data(tmp_path: Path) -> Path:
    files = {
        LONG: "".join(f"{text} {text}\tacht zeichen\n" for text in SENTENCES[:2]),
        (PAIRS, TESTS["Tatoeba test"]): f"{SENTENCES[0]}\tein Satz\tnoch einer\n",
    }
    for (room, name), text in files.items():
        (tmp_path / room).mkdir()
        (tmp_path / room / name).write_text(text)
    return tmp_path


def test_all_rows(text_checkpoint: Checkpoint, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = {"greedy": "acht zeichen", "beam": "hallo hallo hallo hallo"}
    monkeypatch.setattr(
        long, "translations", lambda _, sources, method, title: [written[method]] * len(sources)
    )
    scores = evaluate_long(text_checkpoint, data)
    assert scores["Long sentences, greedy, chrF"] == pytest.approx(100)
    assert scores["Long sentences, greedy, length ratio, tokens"] == 1
    assert scores["Long sentences, greedy, loops"] == 0
    assert scores["Long sentences, beam 4, loops"] == 2
    assert scores["Long sentences, beam 4, length ratio, tokens"] == 4 / 2
    assert scores["Long sentences, beam 4, length ratio, characters"] == 23 / 12
    n_words = len(SENTENCES[0].split())
    row = next(name for name, (least, most) in ROWS.items() if least <= n_words <= most)
    assert scores[f"Tatoeba test by length, greedy, {row} words, sentences"] == 1
    assert len(scores) == 2 * (5 + 2)


def test_a_missing_file_is_named(text_checkpoint: Checkpoint, data: Path) -> None:
    (data / LONG[0] / LONG[1]).unlink()
    with pytest.raises(MissingData, match="flores_long_en_de"):
        evaluate_long(text_checkpoint, data)
