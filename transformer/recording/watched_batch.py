"""One forced pass of a checkpoint whose modules are not ours over several texts at once."""

from collections.abc import Sequence
from inspect import signature

import torch

from transformer.checkpoint import Checkpoint
from transformer.hugging_face.model import HuggingFaceModel
from transformer.inputs import InputError
from transformer.models.family import ForcedPass
from transformer.recording import AttentionCall
from transformer.recording.ours import padded_batch
from transformer.watch.calls.watcher import Watcher
from transformer.watch.capture.operators import name_of
from transformer.watch.kinds.attention import maker
from transformer.watch.kinds.stacks import by_kind
from transformer.watch.results import DRAWS


def reads_masks(checkpoint: Checkpoint) -> bool:
    """Tell whether a model that is watched is told what is padding."""
    model = checkpoint.model
    if not isinstance(model, HuggingFaceModel):
        return False
    return "attention_mask" in signature(type(model.inner).forward).parameters


def watched_calls_of_batch(
    checkpoint: Checkpoint, passes: Sequence[ForcedPass]
) -> dict[str, list[AttentionCall]]:
    """kind -> one call per layer, in one pass over several texts, padded at their end.

    The heads of a call are those of all texts, one text after the other; rows of padding are there
    too. What cannot be told apart in a batch has another number of heads, or another name, than in
    a text by itself: whoever asks compares the two. Raises InputError.
    """
    pad = max(0, checkpoint.config.pad_id)  # -1 stands for none
    arguments = list(zip(*(each.inputs for each in passes), strict=True))
    inputs = [padded_batch(rows, pad, checkpoint.device) for rows in arguments]
    mask = padded_batch([[1] * len(ids) for ids in arguments[0]], 0, checkpoint.device)
    watcher = Watcher(checkpoint.model, is_one=False)
    watcher.n_texts = len(passes)
    with torch.inference_mode(), watcher:
        checkpoint.model(*inputs, mask=mask)
    if watcher.draws:
        raise InputError(DRAWS.format(name_of(checkpoint.model)))
    kinds = by_kind(watcher.seen)
    if len(kinds) == len(passes[0].rows) == 1:
        kinds = dict(zip(passes[0].rows, kinds.values(), strict=True))
    return {name: [maker(call)() for call in kind.calls] for name, kind in kinds.items()}
