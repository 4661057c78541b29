"""Needs of a scene: abilities of a checkpoint, each with a test and its words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from transformer.checkpoint import Checkpoint
from transformer.positions.encodings import find_pairs
from transformer.recording import Recording
from transformer.training.history import list_snapshots

ROOM = 24
"""Positions after a sentence that scenes about shifts need."""


@dataclass(frozen=True)
class Need:
    """holds: whether a checkpoint, and what it made of the sentence, has it."""

    lacks: str
    """The words for a checkpoint that lacks it, after its name: "has no decoder"."""
    holds: Callable[[Checkpoint, Recording], bool]


def _kind(kind: str, words: str) -> Need:
    return Need(f"has no {words}", lambda checkpoint, recording: kind in recording.attentions)


def _has_sinusoids(checkpoint: Checkpoint, recording: Recording) -> bool:
    return any(find_pairs(side.table) is not None for side in recording.positions.values())


def _has_room(checkpoint: Checkpoint, recording: Recording) -> bool:
    sides = recording.positions.values()
    return bool(sides) and all(len(side.table) >= len(side.tokens) + ROOM for side in sides)


def _knows_scores(checkpoint: Checkpoint, recording: Recording) -> bool:
    calls = [call for each in recording.attentions.values() for call in each.calls]
    return all(call.knows_scores and call.v.size(-1) > 0 for call in calls)


def _scales(checkpoint: Checkpoint, recording: Recording) -> bool:
    return all(call.scale != 1 for each in recording.attentions.values() for call in each.calls)


def _writes(checkpoint: Checkpoint, recording: Recording) -> bool:
    logits = recording.logits
    return len(recording.target) > 1 and logits.dim() == 2 and len(logits) == len(recording.target)


def _has_snapshots(checkpoint: Checkpoint, recording: Recording) -> bool:
    return len(list_snapshots(checkpoint.path)) > 1


NEEDS: Mapping[str, Need] = {
    "encoder_self": _kind("encoder_self", "encoder"),
    "decoder_self": _kind("decoder_self", "decoder"),
    "cross": _kind("cross", "cross-attention"),
    "sinusoids": Need("adds no sinusoids to its words", _has_sinusoids),
    "room": Need("has no positions left after this sentence", _has_room),
    "scores": Need("leaves only its weights, not its queries and keys", _knows_scores),
    "scale": Need("does not scale its products", _scales),
    "writes": Need("writes nothing", _writes),
    "snapshots": Need("has no snapshots of its training", _has_snapshots),
}


def lacking(needs: tuple[str, ...], checkpoint: Checkpoint, recording: Recording) -> str | None:
    """Return the words for the first need that is not met; None where all are."""
    missing = (NEEDS[name] for name in needs if not NEEDS[name].holds(checkpoint, recording))
    return next((need.lacks for need in missing), None)
