"""The output that an edit is judged by: what a model writes without it, greedily."""

from collections.abc import Sequence
from contextlib import suppress

from transformer.checkpoint import Checkpoint
from transformer.decoding.decode import decode
from transformer.decoding.greedy_batch import greedy_batch, takes_batches
from transformer.device import device_trouble
from transformer.inputs import InputError, source_ids
from transformer.token import Token
from transformer.tokenizer import TokenizerError


def judged_target(checkpoint: Checkpoint, source: str) -> tuple[Token, ...] | None:
    """Decode greedily what a sweep judges; None: it judges the text, or the class."""
    if not checkpoint.family.decodes or checkpoint.family.continues:
        return None
    return decode(checkpoint, source).target


def judged_targets(
    checkpoint: Checkpoint, sources: Sequence[str]
) -> dict[str, tuple[Token, ...] | None]:
    """Source -> its `judged_target`, decoded in one batch where the model takes batches.

    Sources that cannot be read are left out. A batch rounds otherwise: see `greedy_batch`. Raises
    DeviceError.
    """
    targets: dict[str, tuple[Token, ...] | None] = {}
    ids: dict[str, list[int]] = {}
    for source in sources:
        with suppress(InputError, TokenizerError):
            if takes_batches(checkpoint):
                ids[source] = source_ids(checkpoint, source)
            else:
                targets[source] = judged_target(checkpoint, source)
    if ids:
        with device_trouble():
            written = greedy_batch(checkpoint, [*ids.values()])
        for source, target in zip(ids, written, strict=True):
            targets[source] = tuple(map(checkpoint.tokenizer.token, target))
    return targets
