"""What it costs to hide every word of a source in turn: goal, four recordings of a sentence."""

import torch

from tests.bench.bench import Bench, Row, paired_ratio
from tests.bench.model import bench_checkpoint
from transformer import decode, evidence, record
from transformer.analysis.scored import output_of, scored
from transformer.checkpoint import Checkpoint
from transformer.edits import edits_of
from transformer.words import word_groups

SENTENCES = {
    "The bank on the river was full of flowers.": 4.0,
    "The children who were playing in the garden behind the old house did not want to come "
    "inside, although their mother had called them three times.": 15.0,
}
"""A sentence -> the recordings of it that hiding all of its words may cost."""
PAIRS = 25


def run(is_quick: bool) -> list[Row]:
    checkpoint = bench_checkpoint()
    return [
        row
        for text, goal in list(SENTENCES.items())[: 1 if is_quick else None]
        for row in _rows(checkpoint, text, goal, 1 if is_quick else PAIRS)
    ]


def _rows(checkpoint: Checkpoint, text: str, goal: float, pairs: int) -> list[Row]:
    decoding = decode(checkpoint, text)
    target, n = decoding.target, len(word_groups(decoding.source))
    output = output_of(checkpoint, text, target)
    groups = [edits_of(()), *(edits_of(f"hide:source.{i}") for i in range(n))]

    def hidden() -> None:
        torch.cat([part.log_probs for part in scored(checkpoint, output, groups)])

    def whole() -> None:
        evidence(checkpoint, text, target)

    def recorded() -> None:
        record(checkpoint, text, target)

    name, baseline = f"{n} words hidden, {len(decoding.source)} pieces", "a recording"
    return [
        Row(name, paired_ratio(hidden, recorded, pairs), baseline, goal=goal),
        Row(f"evidence of {n} words, whole", paired_ratio(whole, recorded, pairs), baseline),
    ]


BENCH = Bench("hiding", run)
