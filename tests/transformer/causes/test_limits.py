"""What evidence() cannot say is refused at its beginning, in a sentence."""

from importlib import import_module

import pytest

from tests.conftest import random_checkpoint
from tests.transformer.recording.test_families import CONFIGS, SOURCE, TARGET
from transformer import InputError, evidence
from transformer.causes.arrows import arrows


def test_runs_under_an_edit_of_positions_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("transformer.causes.evidence"), "MOST_RUNS", 10)
    checkpoint = random_checkpoint(CONFIGS["post-norm"])
    assert evidence(checkpoint, SOURCE, TARGET).hidden.isfinite().all()  # in one batch
    with pytest.raises(InputError, match=r"under an edit of positions: these are \d+ runs"):
        evidence(checkpoint, SOURCE, TARGET, ["positions-shift:source=1"])


def test_of_one_word_nothing_is_left_to_compare() -> None:
    classifier = random_checkpoint(CONFIGS["former-classifier"])
    for text, edits in (("7", []), ("7 9", ["hide:text.1"])):
        with pytest.raises(InputError, match="One word of the text is there"):
            evidence(classifier, text, None, edits)
    assert evidence(classifier, "7 9").hidden.isfinite().all()
    post_norm = random_checkpoint(CONFIGS["post-norm"])
    assert evidence(post_norm, "7", TARGET).hidden.isfinite().all()


def test_a_text_of_too_many_words_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("transformer.causes.evidence"), "MOST_WORDS", 4)
    with pytest.raises(InputError, match="these are 5 words"):
        evidence(random_checkpoint(CONFIGS["post-norm"]), SOURCE, TARGET)


def test_arrows_that_are_cut_under_edits_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint, edits = random_checkpoint(CONFIGS["post-norm"]), ["head-off:cross.0.0"]
    whole = arrows(checkpoint, SOURCE, TARGET, 2, edits)
    n_arrows = sum(costs.numel() for costs in whole.costs.values())
    module = import_module("transformer.causes.arrows")
    monkeypatch.setattr(module, "MOST_RUNS", n_arrows)
    arrows(checkpoint, SOURCE, TARGET, 2, edits)
    monkeypatch.setattr(module, "MOST_RUNS", n_arrows - 1)
    arrows(checkpoint, SOURCE, TARGET, 2)  # in passes of the row
    with pytest.raises(InputError, match=f"these are {n_arrows} runs"):
        arrows(checkpoint, SOURCE, TARGET, 2, edits)
