"""A model's outputs under many groups of edits, all at once: greedy decoding, a row per group."""

from collections.abc import Sequence
from typing import Any

import torch

from transformer.checkpoint import Checkpoint
from transformer.decoding.method import length_limit
from transformer.editing.ours import Editing, check, editing
from transformer.editing.references import references
from transformer.edits.edit import Edit
from transformer.inputs import InputError, source_ids


@torch.inference_mode()
def rewrite_with(
    checkpoint: Checkpoint, source: str, groups: Sequence[Sequence[Edit]]
) -> list[list[int]]:
    """The ids that greedy decoding writes with each group, of heads, arrows and words, in force.

    Of models of ours that write. Raises InputError, of an edit EditError.
    """
    if checkpoint.family.is_watched or not checkpoint.family.decodes:
        raise InputError(f"{checkpoint.name}: only models of ours that write are decoded so.")
    sources, model = source_ids(checkpoint, source), checkpoint.model
    forced = checkpoint.family.forced_pass(checkpoint.config, sources, [0])
    check(checkpoint, [edit for group in groups for edit in group], forced)
    tensors = references(checkpoint, source, sources, [it for group in groups for it in group])
    inputs = torch.tensor([sources], device=checkpoint.device)
    ids: list[list[int]] = [[] for _ in groups]
    left = list(range(len(groups)))
    state: Any = None
    last = None
    for _ in range(length_limit(model, inputs, None)):  # type: ignore[arg-type]
        at_work = Editing((), rows=[groups[i] for i in left], references=tensors)
        with editing(model, checkpoint.family, at_work):
            ours: Any = model
            if state is None:
                state = ours.start(inputs.expand(len(left), -1))
                last = ours.first(inputs).expand(len(left), -1)
            best = ours.advance(state, last)[:, -1].argmax(-1)
        for i, id in zip(left, best.tolist(), strict=True):
            ids[i].append(id)
        going_on = [at for at, i in enumerate(left) if ids[i][-1] not in checkpoint.config.eos_ids]
        if not going_on:
            break
        left = [left[at] for at in going_on]
        rows = torch.tensor(going_on, device=checkpoint.device)
        state.reorder(rows)
        last = best[rows][:, None]
    return ids
