"""Recordings that were sent are equal to the bit, hardly larger than q, k and v, and checked."""

import json
import struct
from dataclasses import replace
from typing import Any

import pytest
import torch

from transformer import Checkpoint, decode, load_checkpoint, record
from transformer.analysis.reading import Reading, lenses, read
from transformer.recording import Recording
from transformer.recording.data import PooledClassification
from transformer.recording.wire import MAGIC, WireError, from_bytes, to_bytes

MARK = "ab" * 32
TEXT = "The old man doesn't know where his keys are, and he looks for them."
EDITS: list[tuple[str, ...]] = [
    (),
    (
        "head-scale:cross.0.1=2",
        "cut:encoder_self.0.0.1.2",
        "hide:source.2",
        "arrow-scale:cross.0.0.1.1=2",
    ),
]


@pytest.fixture(scope="module")
def checkpoint() -> Checkpoint:
    return load_checkpoint("checkpoints/en-de", "cpu")


@pytest.fixture(scope="module", params=EDITS, ids=["plain", "edited"])
def recording(request: pytest.FixtureRequest, checkpoint: Checkpoint) -> Recording:
    target = decode(checkpoint, TEXT, max_len=20).target
    return record(checkpoint, TEXT, target, request.param)


def size_of_qkv(recording: Recording) -> int:
    calls = [call for each in recording.attentions.values() for call in each.calls]
    return sum(it.nbytes for call in calls for it in (call.q, call.k, call.v))


def test_what_was_sent_is_equal_to_the_bit(recording: Recording, checkpoint: Checkpoint) -> None:
    content = to_bytes(recording, checkpoint, MARK)
    # A viewer's own copy, which has recorded nothing yet.
    again = from_bytes(content, load_checkpoint("checkpoints/en-de", "cpu"), MARK)
    assert again.source == recording.source and again.target == recording.target
    assert list(again.attentions) == list(recording.attentions)
    for kind, attention in recording.attentions.items():
        other = again.attentions[kind]
        assert (other.queries, other.keys) == (attention.queries, attention.keys)
        assert other.produced == attention.produced
        for layer, call in enumerate(attention.calls):
            theirs = other.calls[layer]
            assert torch.equal(theirs.scores(), call.scores())
            assert torch.equal(theirs.weights(), call.weights())
            assert torch.equal(theirs.heads_given(), call.heads_given())
            for name, lens in lenses().items():
                assert lens.why_not(again, kind) == lens.why_not(recording, kind)
                if not lens.why_not(recording, kind):
                    first, second = (
                        read(it, kind, Reading(lens=name)) for it in (recording, again)
                    )
                    assert torch.equal(first.values(layer), second.values(layer))
    for side, positions in recording.positions.items():
        for name in ("embeddings", "encodings", "table", "sum"):
            assert torch.equal(getattr(again.positions[side], name), getattr(positions, name))
    assert torch.equal(again.logits, recording.logits)
    assert again.checked == recording.checked and again.checked.is_right


@pytest.mark.parametrize("text", ["It rains.", TEXT])
def test_it_is_little_more_than_queries_keys_and_values(text: str, checkpoint: Checkpoint) -> None:
    recording = record(checkpoint, text, decode(checkpoint, text, max_len=20).target)
    assert len(to_bytes(recording, checkpoint, MARK)) < 1.4 * size_of_qkv(recording)


def parts(content: bytes) -> tuple[dict[str, Any], bytes]:
    (length,) = struct.unpack_from("<I", content, len(MAGIC))
    start = len(MAGIC) + 4
    return json.loads(content[start : start + length]), content[start + length :]


def joined(values: dict[str, Any], body: bytes) -> bytes:
    text = json.dumps(values).encode()
    return MAGIC + struct.pack("<I", len(text)) + text + body


def test_what_is_no_recording_of_these_weights_is_refused(
    recording: Recording, checkpoint: Checkpoint
) -> None:
    content = to_bytes(recording, checkpoint, MARK)
    values, body = parts(content)
    first = values["arrays"][0]
    more = [first[0], [2**30, 2**30, 2**30]], *values["arrays"][1:]
    fewer = [first[0], first[1][::-1]], *values["arrays"][1:]
    calls = values["header"]["attentions"]["cross"]["calls"]
    cases = {
        "other weights": content.replace(MARK.encode(), b"cd" * 32),
        "another size": joined(values | {"arrays": more}, body),
        "do not fit": joined(values | {"arrays": fewer}, body),
        "within its header": MAGIC + struct.pack("<I", 2**31) + b"{}",
        "not a recording": b"PK" + content,
        "size than": content[:-1],
    }
    for words, case in cases.items():
        with pytest.raises(WireError, match=words):
            from_bytes(case, checkpoint, MARK)
    calls[0]["q"] = -1
    with pytest.raises(WireError, match="-1"):
        from_bytes(joined(values, body), checkpoint, MARK)


def test_a_decision_is_sent_whole() -> None:
    for name in ("sentiment", "sentiment-mean"):
        checkpoint = load_checkpoint(f"checkpoints/{name}", "cpu")
        recording = record(checkpoint, "A warm and funny film.", edits=("hide:text.2",))
        again = from_bytes(to_bytes(recording, checkpoint, MARK), checkpoint, MARK)
        assert torch.equal(again.logits, recording.logits)
        first, second = recording.classification, again.classification
        assert isinstance(first, PooledClassification) and isinstance(second, PooledClassification)
        assert (second.classes, second.pooling) == (first.classes, first.pooling)
        assert torch.equal(second.probs, first.probs)
        assert torch.equal(second.contributions(), first.contributions())
        assert torch.equal(second.taken(), first.taken())


def test_what_is_not_sent_says_so(recording: Recording, checkpoint: Checkpoint) -> None:
    classifier = replace(recording, classification=object())
    with pytest.raises(WireError, match="record where it is shown"):
        to_bytes(classifier, checkpoint, MARK)
