"""Whatever the library returns says in a line what it is: a notebook shows a cell's last value."""

import pytest

from transformer import Checkpoint, decode, evidence, load_checkpoint, record, survey

TEXT = "It rains."


@pytest.fixture(scope="module")
def checkpoint() -> Checkpoint:
    return load_checkpoint("checkpoints/en-de-1", "cpu")


def test_every_value_fits_into_a_line(checkpoint: Checkpoint) -> None:
    decoding = decode(checkpoint, TEXT, method="beam")
    recording = record(checkpoint, TEXT, decoding.target)
    expected = {
        repr(checkpoint): ["en-de-1", "cpu"],
        repr(decoding): [decoding.text, f"{decoding.log_prob:.3f}"],
        repr(recording): [str(len(recording.source)), str(len(recording.target)), "cross 3 x 8"],
        repr(recording.attentions["cross"]): ["cross", "3 layers", "8 heads"],
        repr(evidence(checkpoint, TEXT)): ["4 source words", "nats"],
        repr(survey(checkpoint, [TEXT])): ["72 heads", "1 sentence"],
    }
    for said, facts in expected.items():
        assert len(said) < 160 and "\n" not in said
        for fact in facts:
            assert fact in said
