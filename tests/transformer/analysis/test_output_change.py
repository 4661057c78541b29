"""What became of an output: log-probabilities are the model's own, and words are whole words."""

from pathlib import Path

import pytest

from transformer import decode, load_checkpoint, record
from transformer.analysis.scored import differing, log_probabilities, word_changes
from transformer.checkpoint import Checkpoint
from transformer.words import words_of

TEXT = "The animal didn't cross the street because it was too tired."


@pytest.fixture(scope="module")
def en_de() -> Checkpoint:
    return load_checkpoint(Path("checkpoints/en-de"))


def test_log_probabilities_are_those_of_the_decoding(en_de: Checkpoint) -> None:
    decoding = decode(en_de, TEXT)
    found = log_probabilities(record(en_de, TEXT, decoding.target))
    assert found.shape == (len(decoding.target),)
    assert float(found.sum()) == pytest.approx(decoding.hypotheses[0].log_prob, abs=1e-4)


def test_each_word_has_the_change_of_all_its_pieces(en_de: Checkpoint) -> None:
    target = decode(en_de, TEXT).target
    before = record(en_de, TEXT, target)
    after = record(en_de, TEXT, target, edits=["head-off:cross.2.3"])
    changes = word_changes(before, after)
    assert [each.word for each in changes] == words_of(target)
    total = log_probabilities(after).sum() - log_probabilities(before).sum()
    assert sum(each.gain for each in changes) == pytest.approx(float(total), abs=1e-9)
    assert max(abs(each.gain) for each in changes) > 0.01
    assert {each.gain for each in word_changes(before, before)} == {0.0}


def test_other_targets_are_not_compared(en_de: Checkpoint) -> None:
    first, other = (record(en_de, TEXT, target) for target in ("Ja.", "Nein."))
    with pytest.raises(ValueError, match="one and the same target"):
        word_changes(first, other)


def test_words_that_moved_are_told_from_those_that_stayed() -> None:
    old, new = ["er", "kam", "nicht", "heim"], ["er", "kam", "heim", ",", "nicht"]
    assert differing(new, old) in (
        [False, False, False, True, True],
        [False, False, True, True, False],
    )
    assert differing(old, old) == [False] * 4
    assert differing([], old) == []
