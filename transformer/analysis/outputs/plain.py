"""The outputs of two texts as they are, which activation patching compares."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from transformer.checkpoint import Checkpoint
from transformer.decoding.alone import alone
from transformer.decoding.greedy import greedy
from transformer.inputs import InputError
from transformer.recording.watched import numbers, text_vector

MOST_CONTINUED = 24
"""Tokens that a generator goes on with until both differ."""


def vectors_of(checkpoint: Checkpoint, texts: Sequence[Sequence[int]]) -> list[Tensor]:
    """The vectors of texts; none of a model that gives none."""
    if not checkpoint.family.is_watched or checkpoint.family.decodes:
        return []
    with torch.inference_mode():
        rows = (torch.tensor([ids], device=checkpoint.device) for ids in texts)
        vectors = [text_vector(checkpoint, checkpoint.model(each)[0]) for each in rows]
    return [each.values for each in vectors if each is not None]


def scores_of(checkpoint: Checkpoint, texts: Sequence[Sequence[int]]) -> list[dict[str, float]]:
    """The numbers of texts by their names; none of a model that gives none."""
    if not getattr(checkpoint.config, "numbers", ()):
        return []
    with torch.inference_mode():
        rows = (torch.tensor([ids], device=checkpoint.device) for ids in texts)
        return [numbers(checkpoint, checkpoint.model(each)[0]) for each in rows]


def answer_of(checkpoint: Checkpoint, sources: Sequence[int]) -> Sequence[int]:
    """Decode greedily, or find the class. Raises InputError."""
    rows = torch.tensor([sources], device=checkpoint.device)
    family, config = checkpoint.family, checkpoint.config
    with torch.inference_mode():
        if family.decodes:
            room = MOST_CONTINUED if family.continues else None
            model: Any = checkpoint.model
            return alone(model, greedy(model, rows, room), rows)[0].ids
        logits = checkpoint.model(rows)[0]
    if logits.shape != (len(getattr(config, "classes", ())),):
        raise InputError(
            f"{checkpoint.name} writes nothing, names no class and gives neither number nor "
            "vector: nothing is measured."
        )
    return [int(logits.argmax())]
