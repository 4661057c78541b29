"""The tint of written words: how sure the model was of each, by one of three measures."""

from math import exp, log
from typing import Literal

from transformer.decoding.certainty import Certainty, certainties
from transformer.recording import Recording
from transformer.words import word_groups
from viz.labels import number, percent

Tint = Literal["off", "log_prob", "rank", "entropy"]
TINTS: dict[Tint, str] = {
    "log_prob": "log-probability",
    "rank": "rank",
    "entropy": "entropy",
}
"""The measures, by what a person chooses them by."""
FULL_LOG_PROB = log(100)
"""The nats of a word of 1 %, from which on the tint is the deepest."""
FULL_RANK = 100
FULL_ENTROPY = 6.0
"""In bits: as if 64 words were equally probable."""


def tinted(recording: Recording) -> list[tuple[float, float, float, str]]:
    """Return for each target token the depth of its word's tint by each measure, and the numbers.

    Depths are 0, where the model was sure, to 1. Empty where nothing is written.
    """
    target = recording.target
    if not target or recording.logits.dim() != 2 or len(recording.logits) != len(target):
        return []
    result: dict[int, tuple[float, float, float, str]] = {}
    for group, each in zip(word_groups(target), certainties(recording), strict=True):
        depths = _depths(each)
        result |= {position: (*depths, _text(each)) for position in group}
    return [result[position] for position in range(len(target))]


def _depths(it: Certainty) -> tuple[float, float, float]:
    values = (
        -it.log_prob / FULL_LOG_PROB,
        log(max(it.ranks)) / log(FULL_RANK),
        it.entropy / FULL_ENTROPY,
    )
    a, b, c = (round(min(1.0, max(0.0, value)), 3) for value in values)
    return a, b, c


def _text(it: Certainty) -> str:
    """The numbers of a word, as a pointer finds them."""
    sure = f"{percent(exp(it.log_prob))} ({number(it.log_prob)} nats)"
    entropy, ranks = f"entropy {number(it.entropy)} bits", ", ".join(f"{n:,}" for n in it.ranks)
    if len(it.ranks) == 1:
        return f"{sure}, rank {ranks}, {entropy}"
    return f"{sure}, {entropy}, of its {len(it.ranks)} pieces together; rank of each: {ranks}"
