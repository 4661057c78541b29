"""The same pass with nobody recording it."""

import torch

from transformer.checkpoint import Checkpoint
from transformer.recording import Recording


def plain_difference(checkpoint: Checkpoint, recording: Recording) -> float:
    """The largest difference between the recorded logits and those of a pass that nobody records.

    0 where recording changed nothing. Raises InputError.
    """
    sources = [token.id for token in recording.source]
    targets = [token.id for token in recording.target]
    forced = checkpoint.family.forced_pass(checkpoint.config, sources, targets or None)
    rows = (torch.tensor([ids], device=checkpoint.device) for ids in forced.inputs)
    with torch.inference_mode():
        logits = checkpoint.model(*rows)[0]
    logits = logits[-len(targets) :] if targets else logits
    return float((logits - recording.logits).abs().max())
