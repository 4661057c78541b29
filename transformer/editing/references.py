"""The tensors that edits refer to: what heads and layers give in runs that nothing changes."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from transformer.checkpoint import Checkpoint
from transformer.decoding.greedy import greedy
from transformer.decoding.shared_batch import alone
from transformer.editing.checking import pieces
from transformer.editing.editor import Given
from transformer.editing.ours import Listening, editing
from transformer.edits.edit import Edit, EditError
from transformer.edits.spelling import edit_kinds
from transformer.inputs import source_ids
from transformer.models.family import Ids
from transformer.recording.watched import watched_given


def references(
    checkpoint: Checkpoint, source: str, sources: Ids, edits: Sequence[Edit]
) -> Mapping[Edit, Tensor]:
    """Edit -> its reference, for those that have one. Raises EditError, InputError.

    [R, d_value] of a head, [D] of a word's state, the positions [n] of a word that is read. A
    translator's target is what greedy decoding writes; of a generator the prompt is run by itself.
    sources: the tokens that are read.
    """
    runs: dict[str, Given] = {}
    result = pieces(checkpoint, sources, edits)
    for edit in edits:
        kind = edit_kinds()[edit.name]
        if kind.text == "none":
            continue
        text = edit.text or source
        ids = source_ids(checkpoint, text)
        if kind.same_length and len(ids) != len(sources):
            raise EditError(
                f"{edit}: that sentence has {len(ids)} tokens and this one {len(sources)}; both "
                "must have as many."
            )
        if text not in runs:
            runs[text] = _run(checkpoint, ids)
        tensors = runs[text]
        part = tensors.get(
            (edit.place, edit.layer, "states" if edit_kinds()[edit.name].states else "heads")
        )
        if part is None:
            raise EditError(f"{edit}: what it refers to is not seen in this model.")
        of = edit.numbers[1]  # the head, or the word
        if of >= len(part):
            raise EditError(f"{edit}: there is no number {of} here; there are {len(part)}.")
        result[edit] = part[of]
    return result


def _run(checkpoint: Checkpoint, sources: Ids) -> Given:
    family = checkpoint.family
    writes = family.decodes and not family.continues
    source = torch.tensor([sources], device=checkpoint.device)
    with torch.inference_mode():
        model: Any = checkpoint.model
        target = alone(model, greedy(model, source), source) if writes else None
        targets = target[0].ids if target else None
    forced = family.forced_pass(checkpoint.config, sources, targets)
    if family.is_watched:
        return watched_given(checkpoint, forced)
    listening = Listening()
    with torch.inference_mode(), editing(checkpoint.model, family, listening):
        checkpoint.model(*(torch.tensor([ids], device=checkpoint.device) for ids in forced.inputs))
    return listening.given
