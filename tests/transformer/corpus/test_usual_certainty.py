"""The certainty with which a translator usually writes: measured, kept, read again."""

import json
from pathlib import Path

import pytest
import torch

from transformer import Checkpoint, Decoding, decode, load_checkpoint, record
from transformer.checkpoint import CheckpointError
from transformer.corpus.usual_certainty import (
    FILE,
    METHODS,
    UsualCertainty,
    mean_log_prob,
    measure_certainty,
    read_certainty,
    usual_certainty,
    write_certainty,
)
from transformer.fingerprint import is_marked

SHIPPED = Path(__file__).parents[3] / "checkpoints"
SENTENCES = ("She is ill.", "I have never seen such a house.", "THE CAT SAT ON THE MAT")
KEPT = UsualCertainty("f" * 64, 3, {"greedy": -0.5, "beam": -0.25})


@pytest.fixture(scope="module")
def small() -> Checkpoint:
    return load_checkpoint(SHIPPED / "en-de-small")


def test_it_is_the_lowest_mean_of_all_sentences(small: Checkpoint) -> None:
    usual = measure_certainty(small, "", [*SENTENCES, "x " * 5000])
    assert usual is not None and usual.n_sentences == len(SENTENCES)
    for method in METHODS:
        decoded = [decode(small, text, method=method) for text in SENTENCES]
        means = [_mean(small, text, it) for text, it in zip(SENTENCES, decoded, strict=True)]
        assert usual.least[method] == pytest.approx(min(means), abs=1e-4)
        assert [mean_log_prob(it) for it in decoded] == pytest.approx(means, abs=1e-4)


def _mean(checkpoint: Checkpoint, text: str, decoding: Decoding) -> float:
    """Of the logits of a recorded pass."""
    logits = record(checkpoint, text, decoding.target).logits.double().log_softmax(-1)
    ids = torch.tensor([token.id for token in decoding.target])
    return float(logits.gather(1, ids[:, None]).mean())


@pytest.mark.parametrize("name", ["shakespeare", "sentiment"])
def test_what_translates_nothing_has_none(name: str) -> None:
    checkpoint = load_checkpoint(SHIPPED / name)
    assert measure_certainty(checkpoint, "", ["To be"]) is None
    assert usual_certainty(checkpoint.path) is None


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert read_certainty(tmp_path) is None
    write_certainty(tmp_path, KEPT)
    assert read_certainty(tmp_path) == KEPT


@pytest.mark.parametrize(
    "change",
    [
        {"least": [1]},
        {"least": {"beam": "low"}},
        {"least": {"beam": float("nan")}},
        {"n_sentences": -1},
        {"n_sentences": 1.5},
        {"fingerprint": None},
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    write_certainty(tmp_path, KEPT)
    value = json.loads((tmp_path / FILE).read_text())
    (tmp_path / FILE).write_text(json.dumps(value | change))
    with pytest.raises(CheckpointError):
        read_certainty(tmp_path)


@pytest.mark.parametrize("name", ["en-de", "en-de-1", "en-de-small"])
def test_shipped_translators_have_theirs(name: str) -> None:
    usual = usual_certainty(SHIPPED / name)
    assert usual is not None and is_marked(SHIPPED / name, usual.fingerprint)
    assert usual.n_sentences == 320 and set(usual.least) == set(METHODS)
    checkpoint = load_checkpoint(SHIPPED / name)
    for text, is_unsure in (("She is ill.", False), ("THE CAT SAT ON THE MAT", True)):
        assert usual.exceeds(decode(checkpoint, text, method="beam"), "beam") == is_unsure
