"""sweep(): what each head is worth to each word of an output, every head off in turn.

The output is given, so all heads are tried in one batch, a row each with an edit of its own; what
edits leave alone is computed once: rows whose encoder is not edited share what it gave.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from transformer.checkpoint import Checkpoint
from transformer.editing.ours import Editing, editing, places
from transformer.editing.ours import check as check_ours
from transformer.editing.references import references
from transformer.edits.edit import Edit
from transformer.edits.spelling import edits_of
from transformer.inputs import InputError, source_ids, target_ids
from transformer.tokenizer import Token

ROWS = 128
"""Rows of a batch, at most."""
CELLS = 240
"""Words whose distributions are made at once: they stay near the processor."""


@dataclass(frozen=True, eq=False)
class Sweep:
    """What each of N edits does to each of T words of a known output. Tensors are on the CPU."""

    edits: tuple[Edit, ...]
    target: tuple[Token, ...]
    log_probs: Tensor
    """[T] of the words as the model gives them without any of the edits, in nats."""
    changes: Tensor
    """[N, T]: log-probability with the edit less that without it."""
    best: Tensor
    """[T] the most probable token's id without an edit."""
    best_edited: Tensor
    """[N, T]: with it. Where it differs, greedy decoding would write another word."""


def heads_off(checkpoint: Checkpoint) -> tuple[Edit, ...]:
    """One edit for each head of a model of ours: kind by kind, layer by layer."""
    config: Any = checkpoint.config
    return tuple(
        Edit("head-off", kind, (layer, head))
        for kind, layers in places(checkpoint.model, checkpoint.family).items()
        for layer in range(len(layers))
        for head in range(config.n_heads)
    )


def sweep(
    checkpoint: Checkpoint,
    source: str,
    target: str | Sequence[Token],
    edits: Sequence[Edit | str] | None = None,
) -> Sweep:
    """Try edits one by one on a source and its known target; None: every head off.

    Of heads and arrows; positions are of a whole run. Raises InputError, of an edit EditError.
    """
    if checkpoint.family.is_watched or not checkpoint.family.decodes:
        raise InputError(f"{checkpoint.name} cannot be swept: only models of ours that write are.")
    sources = source_ids(checkpoint, source)
    targets = target_ids(checkpoint, target, len(sources))
    if targets is None:
        raise InputError("A sweep needs the target whose words it follows.")
    tried = heads_off(checkpoint) if edits is None else edits_of(edits)
    forced = checkpoint.family.forced_pass(checkpoint.config, sources, targets)
    check_ours(checkpoint, tried, forced)
    if any(edit.place not in forced.rows for edit in tried):
        raise InputError("A sweep is of heads and arrows, not of positions.")
    given = references(checkpoint, source, tried)
    found = [
        _scored(checkpoint, sources, targets, tried[first : first + ROWS - 1], given)
        for first in range(0, max(1, len(tried)), ROWS - 1)
    ]
    plain, best = found[0][0][0], found[0][1][0]
    log_probs = torch.cat([each[1:] for each, _ in found])
    return Sweep(
        edits=tuple(tried),
        target=tuple(map(checkpoint.tokenizer.token, targets)),
        log_probs=plain,
        changes=log_probs - plain,
        best=best,
        best_edited=torch.cat([each[1:] for _, each in found]),
    )


@torch.inference_mode()
def _scored(
    checkpoint: Checkpoint,
    sources: Sequence[int],
    targets: Sequence[int],
    tried: Sequence[Edit],
    given: Mapping[Edit, Tensor],
) -> tuple[Tensor, Tensor]:
    """Log-probabilities of the target and most probable ids, both [1 + N, T]; row 0 is unedited."""
    model: Any = checkpoint.model
    states = states_with(checkpoint, sources, targets, tried, given)
    chosen = torch.tensor(targets, device=checkpoint.device).repeat(len(states))
    judged = [
        _judged(model.logits(x).float(), ids)
        for x, ids in zip(states.flatten(0, 1).split(CELLS), chosen.split(CELLS), strict=True)
    ]
    log_probs, best = (torch.cat(each) for each in zip(*judged, strict=True))
    return log_probs.view(len(states), -1).cpu(), best.view(len(states), -1).cpu()


@torch.inference_mode()
def states_with(
    checkpoint: Checkpoint,
    sources: Sequence[int],
    targets: Sequence[int],
    tried: Sequence[Edit],
    given: Mapping[Edit, Tensor],
) -> Tensor:
    """The decoder's last states [1 + N, T, D], which the target is written from.

    Row 0 is unedited, each other one has an edit of its own. given: what edits refer to.
    """
    model: Any = checkpoint.model
    source = torch.tensor([sources], device=checkpoint.device)
    has_encoder = "encoder_self" in checkpoint.family.attentions
    is_early = [edit.place == "encoder_self" or not has_encoder for edit in tried]
    early = [edit for edit, is_it in zip(tried, is_early, strict=True) if is_it]
    rows: list[list[Edit]] = [[], *([edit] for edit in early)]
    with editing(model, checkpoint.family, Editing((), rows=rows, references=given)):
        state = model.start(source.expand(len(rows), -1))
    places_of_early = iter(range(1, len(rows)))
    wanted = [0, *(next(places_of_early) if is_it else 0 for is_it in is_early)]
    state.reorder(torch.tensor(wanted, device=checkpoint.device))
    first = model.first(source)
    target = torch.tensor([targets], device=checkpoint.device)
    read = torch.cat([first, target[:, :-1]], 1).expand(1 + len(tried), -1)
    rows = [[], *([edit] for edit in tried)]
    with editing(model, checkpoint.family, Editing((), rows=rows, references=given)):
        states: Tensor = model.read(state, read)
    return states[:, -len(targets) :]


def _judged(logits: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
    """Log-probabilities of ids [N] and the most probable ones, of logits [N, V], which are lost."""
    largest, best = logits.max(-1)
    own = logits.gather(-1, ids[:, None])[:, 0] - largest
    return own - logits.sub_(largest[:, None]).exp_().sum(-1).log(), best
