"""Heads that carry the negation: found over sentences, kept beside the survey, read again."""

import json
from pathlib import Path

import pytest

from transformer import Checkpoint, InputError, decode, load_checkpoint
from transformer.__main__ import main
from transformer.causes.change import Carriers, has_negation
from transformer.checkpoint import CheckpointError
from transformer.corpus.carriers import (
    FILE,
    ShippedCarriers,
    find_carriers,
    shipped_carriers,
    write_carriers,
)
from transformer.corpus.shipped import FOLDER
from transformer.edits import Edit
from transformer.fingerprint import is_marked

SHIPPED = Path("checkpoints") / "en-de"
ONE, OTHER = Edit("head-off", "cross", (1, 7)), Edit("head-off", "cross", (2, 7))
KEPT = ShippedCarriers("f" * 64, Carriers("de", ((ONE,), (ONE, OTHER))), (2, 6), 9)
SENTENCES = (
    "The animal didn't cross the street because it was too tired.",
    "She doesn't love him.",
    "It rains.",
)


@pytest.fixture(scope="module")
def checkpoint() -> Checkpoint:
    return load_checkpoint(SHIPPED)


def test_the_shipped_ones_are_of_the_shipped_weights(checkpoint: Checkpoint) -> None:
    shipped = shipped_carriers(SHIPPED)
    assert shipped is not None and is_marked(SHIPPED, shipped.fingerprint)
    *_, whole = shipped.carriers.groups
    assert 2 * shipped.n_removed[-1] > shipped.n_sentences
    assert all(set(group) <= set(whole) for group in shipped.carriers.groups)
    text = "I do not know where he lives."
    plain, without = (decode(checkpoint, text, method="beam", edits=it) for it in ((), whole))
    assert has_negation(plain.text, "de") and not has_negation(without.text, "de")


@pytest.mark.thorough
def test_the_command_keeps_a_group_that_removes_most_negations(
    checkpoint: Checkpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "sentences.txt"
    data.write_text("\n".join([*SENTENCES, "x " * 5000]))
    options = ["--language", "de", "--data", str(data), "--out", str(tmp_path / FOLDER)]
    assert main(["carriers", "en-de", *options, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sentences"] == 2
    found = shipped_carriers(tmp_path)
    assert found is not None and is_marked(SHIPPED, found.fingerprint)
    assert 2 * found.n_removed[-1] > found.n_sentences
    for group, n in zip(found.carriers.groups, found.n_removed, strict=True):
        texts = [decode(checkpoint, it, method="beam", edits=group).text for it in SENTENCES[:2]]
        assert n == sum(not has_negation(it, "de") for it in texts) > 0


def test_the_smallest_change_in_a_shell(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["smallest-change", "en-de", SENTENCES[0], "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["heads"] == [str(ONE), str(OTHER)] and result["gone"] == "nicht"
    assert main(["smallest-change", "en-de", SENTENCES[2]]) == 0
    assert "none" in capsys.readouterr().out
    assert main(["smallest-change", "sentiment", SENTENCES[2]]) == 1


def test_sentences_without_a_negation_are_refused(checkpoint: Checkpoint) -> None:
    with pytest.raises(InputError):
        find_carriers(checkpoint, "", ["It rains."], "de")


def test_they_are_read_as_they_were_written(tmp_path: Path) -> None:
    assert shipped_carriers(tmp_path) is None
    (tmp_path / FOLDER).mkdir()
    write_carriers(tmp_path / FOLDER, KEPT)
    assert shipped_carriers(tmp_path) == KEPT


@pytest.mark.parametrize(
    "change",
    [
        {"fingerprint": None},
        {"language": 1},
        {"n_sentences": -1},
        {"groups": []},
        {"groups": [{"heads": [[1]], "n_removed": 1}]},
        {"groups": [{"heads": [[1, -7]], "n_removed": 1}]},
        {"groups": [{"heads": [["1", "7"]], "n_removed": 1}]},
        {"groups": [{"heads": [[1, 7]] * 20, "n_removed": 1}]},
        {"groups": [{"heads": [[1, 7]], "n_removed": 1}] * 20},
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    (tmp_path / FOLDER).mkdir()
    write_carriers(tmp_path / FOLDER, KEPT)
    file = tmp_path / FOLDER / FILE
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(CheckpointError):
        shipped_carriers(tmp_path)
