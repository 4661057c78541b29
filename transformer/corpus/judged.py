"""The output that an edit is judged by: what a model writes without it, greedily."""

from collections.abc import Sequence
from contextlib import suppress

from transformer.checkpoint import Checkpoint
from transformer.decoding.decode import decode
from transformer.decoding.greedy_batch import greedy_batch, takes_batches
from transformer.inputs import source_ids
from transformer.refusal import Refusal
from transformer.token import Token


def judged_target(checkpoint: Checkpoint, source: str) -> tuple[Token, ...] | None:
    """Decode greedily what a sweep judges; None: it judges the text, or the class."""
    if not checkpoint.family.decodes or checkpoint.family.continues:
        return None
    return decode(checkpoint, source).target


def judged_targets(
    checkpoint: Checkpoint, sources: Sequence[str]
) -> dict[str, tuple[Token, ...] | None]:
    """Source -> its `judged_target`, decoded in one batch where the model takes batches.

    Sources that are refused are left out. A batch rounds otherwise: see `greedy_batch`.
    """
    targets: dict[str, tuple[Token, ...] | None] = {}
    ids: dict[str, list[int]] = {}
    for source in sources:
        with suppress(Refusal):
            if takes_batches(checkpoint):
                ids[source] = source_ids(checkpoint, source)
            else:
                targets[source] = judged_target(checkpoint, source)
    if ids:
        for source, written in zip(ids, greedy_batch(checkpoint, [*ids.values()]), strict=True):
            targets[source] = tuple(map(checkpoint.tokenizer.token, written))
    return targets
