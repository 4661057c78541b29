"""One forced pass of a checkpoint whose modules are not ours over several texts at once."""

from collections.abc import Sequence
from dataclasses import replace
from inspect import signature
from typing import Any

import torch
from torch import Tensor

from transformer.checkpoint import Checkpoint
from transformer.editing.editor import Editor
from transformer.hugging_face.model import HuggingFaceModel
from transformer.inputs import InputError
from transformer.models.family import ForcedPass
from transformer.own_module.model import OwnModel
from transformer.recording import AttentionCall
from transformer.recording.ours import padded_batch
from transformer.token import Token
from transformer.watch.calls.watcher import Watcher
from transformer.watch.capture.operators import name_of
from transformer.watch.editing import EditingWatcher, Plan, check_met
from transformer.watch.kinds.attention import maker
from transformer.watch.kinds.kind import added_to
from transformer.watch.kinds.stacks import by_kind
from transformer.watch.results import DRAWS


def reads_masks(checkpoint: Checkpoint) -> bool:
    """Tell whether a model that is watched is told what is padding, or may know it by its id."""
    model = checkpoint.model
    if isinstance(model, OwnModel):
        pads = (model.config.pad_id, model.config.source_pad_id)
        return model.config.mask is not None or any(each is not None and each >= 0 for each in pads)
    if not isinstance(model, HuggingFaceModel):
        return False
    return "attention_mask" in signature(type(model.inner).forward).parameters


def watched_calls_of_batch(
    checkpoint: Checkpoint, passes: Sequence[ForcedPass]
) -> tuple[dict[str, list[AttentionCall]], dict[str, tuple[Token, ...]]]:
    """kind -> one call per layer, in one pass over several texts, padded at their end; and the keys
    that the model adds, which are put behind those of each text.

    The heads of a call are those of all texts, one text after the other; rows of padding are there
    too. What cannot be told apart in a batch has another number of heads, or another name, than in
    a text by itself: whoever asks compares the two. Raises InputError.
    """
    pad = max(0, checkpoint.config.pad_id)  # -1 stands for none
    of_source: int | None = getattr(checkpoint.config, "source_pad_id", None)
    pads = [pad if of_source is None else max(0, of_source), pad]
    arguments = list(zip(*(each.inputs for each in passes), strict=True))
    inputs = [
        padded_batch(rows, pad, checkpoint.device)
        for rows, pad in zip(arguments, pads, strict=False)
    ]
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
    added = {name: added_to(kind.calls[0]) for name, kind in kinds.items()}
    calls = {name: [maker(call)() for call in kind.calls] for name, kind in kinds.items()}
    for name, keys in added.items():
        if keys and name in passes[0].rows:
            lengths = [len(each.rows[name].keys) for each in passes]
            calls[name] = [_behind_words(call, lengths, len(keys)) for call in calls[name]]
    return calls, added


def logits_of_rows(
    checkpoint: Checkpoint, forced: ForcedPass, plan: Plan, editors: Sequence[Editor]
) -> torch.Tensor:
    """Compute logits of one text in a pass of a row per editor, [N, T, V] or [N, C].

    Edits are of scores and heads. A batch may not be what the model gives row by row: whoever asks
    compares. Raises EditError for an edit that finds nothing to change.
    """
    watcher = EditingWatcher(checkpoint.model, plan, *editors, is_one=False, is_kept=False)
    rows = [
        torch.tensor([ids], device=checkpoint.device).expand(len(editors), -1)
        for ids in forced.inputs
    ]
    with torch.inference_mode(), watcher:
        logits: torch.Tensor = checkpoint.model(*rows)
    for editor in editors:
        check_met(editor)
    return logits


def _behind_words(call: AttentionCall, lengths: Sequence[int], n_added: int) -> AttentionCall:
    """The call of several texts with its last keys behind those of each text, before padding."""
    n_keys, n_heads = call.k.size(1), call.n_heads // len(lengths)
    n_padded, n_groups = n_keys - n_added, len(call.k) // len(lengths)
    places = range(n_keys)
    order = torch.tensor(
        [[*places[:n], *places[n_padded:], *places[n:n_padded]] for n in lengths],
        device=call.k.device,
    )  # [B, K]

    def of_cells(cells: Tensor) -> Tensor:  # [1 or H, Q, K]
        at = order.repeat_interleave(n_heads, 0)[:, None]
        return cells.expand(call.n_heads, -1, n_keys).gather(-1, at.expand(-1, cells.size(1), -1))

    def of_keys(rows: Tensor) -> Tensor:  # [G, K, d]
        at = order.repeat_interleave(n_groups, 0)[:, :, None]
        return rows.gather(1, at.expand(-1, -1, rows.size(-1)))

    changed: dict[str, Any] = {"k": of_keys(call.k), "v": of_keys(call.v)}
    changed |= {
        name: of_cells(cells)
        for name in ("mask", "bias", "low", "given")
        if (cells := getattr(call, name, None)) is not None
    }
    return replace(call, **changed)
