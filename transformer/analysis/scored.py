"""A known output under many groups of edits: how likely it is under each of them.

Models of ours run all groups in one batch, a row each, and what edits leave alone is computed once:
rows share the layers below the first that is edited (transformer/editing/growing.py). Any other
model runs once for each group.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from transformer.analysis.outputs.output import Output
from transformer.checkpoint import Checkpoint
from transformer.editing.growing import Growing
from transformer.editing.ours import Editing, editing
from transformer.editing.ours import check as check_ours
from transformer.editing.reach import first_layer, kinds_of
from transformer.editing.references import references
from transformer.edits.edit import Edit, EditError
from transformer.inputs import InputError, source_ids
from transformer.models.mode import check_mode
from transformer.precision import at_least_single
from transformer.recording import Recording
from transformer.recording.ours import record
from transformer.recording.text_vector import angle, cosine

ROWS = 128
"""Rows of a batch, at most."""
CELLS = 240
"""Words whose distributions are made at once: they stay near the processor."""
Group = Sequence[Edit]


@dataclass(frozen=True, eq=False)
class Scored:
    """The scores of T words, or of C classes, under N groups of edits. Tensors are on the CPU."""

    log_probs: Tensor
    """[N, T or C], in nats; of numbers themselves [N, C]; of a vector [N, 1], minus the angle to
    that without an edit, in degrees, or its cosine with a second text's, both under the edits."""
    best: Tensor
    """[N, T or 1]: ids of what was most probable."""
    foils: Tensor | None = None
    """[N, T]: the same of the output's foils; None where it has none."""
    refused: tuple[str, ...] = ()
    """The reason why the one group of N = 1 cannot be tried; log_probs are then not a number."""


def scored(
    checkpoint: Checkpoint, output: Output, groups: Sequence[Group], in_batches: bool = True
) -> Iterator[Scored]:
    """Each group's scores, in order and some at a time; an empty group changes nothing.

    in_batches: False: a model of ours, too, runs once for each group. Raises EditError for an edit
    that a model of ours cannot have; run by run, such a group is `refused`. Raises InputError for a
    model in training mode and, in batches, for an edit of positions: they are of a whole run.
    """
    check_mode(checkpoint)
    if checkpoint.family.is_watched or not in_batches:
        yield from (_recorded(checkpoint, output, group) for group in groups)
        return
    sources = source_ids(checkpoint, output.source)
    targets = None if output.target is None else [token.id for token in output.target]
    forced = checkpoint.family.forced_pass(checkpoint.config, sources, targets)
    edits = [edit for group in groups for edit in group]
    check_ours(checkpoint, edits, forced)
    if not all(map(kinds_of, edits)):
        raise InputError(
            "Heads, arrows and words are tried in a batch, whose rows have the same tokens in the "
            "same positions: take the edit of positions, or of the order of words, back first."
        )
    tensors = references(checkpoint, output.source, sources, edits)
    if targets is None:  # a text that is only read follows its first token
        sources, targets = (sources, []) if output.classes else (sources[:1], sources[1:])
    for first in range(0, len(groups), ROWS):
        some = groups[first : first + ROWS]
        if output.classes:
            yield _classified(checkpoint, sources, some, tensors)
        else:
            foils = [token.id for token in output.foils]
            yield _together(checkpoint, sources, targets, some, tensors, foils)


def _recorded(checkpoint: Checkpoint, output: Output, group: Group) -> Scored:
    try:
        recording = record(checkpoint, output.source, output.target, group)
        second = record(checkpoint, output.second, None, group) if output.second else None
    except EditError as error:
        n = len(output.classes or output.numbers or output.words) or 1
        nothing = torch.full((1, n), torch.nan)
        return Scored(nothing, torch.zeros(1, n).long(), refused=(str(error),))
    log_probs, best = scores_in(recording, output)
    if second is not None:
        log_probs = torch.tensor([_cosine(recording, second)])
    foils = torch.tensor([[token.id] for token in output.foils])
    if not output.foils:
        return Scored(log_probs[None], best[None])
    every = recording.logits.cpu().double().log_softmax(-1)
    return Scored(log_probs[None], best[None], every.gather(-1, foils).mT.to(log_probs.dtype))


def _cosine(*recordings: Recording) -> float:
    """Compare the vectors of two texts, both made under the same edits."""
    a, b = (each.vector for each in recordings)
    assert a is not None and b is not None
    return cosine(a.values, b.values)


def scores_in(recording: Recording, output: Output) -> tuple[Tensor, Tensor]:
    """Score an output in one recording: [T or C] as in Scored, and the most probable [T or 1]."""
    decided = recording.classification
    if decided is not None and output.classes:
        logits = decided.logits.cpu().double()
        log_probs = logits.log_softmax(-1) if decided.is_exclusive else logsigmoid(logits)
        single = log_probs.to(at_least_single(decided.logits).dtype)
        return single, log_probs.argmax(-1, keepdim=True)
    if output.numbers:
        return torch.tensor([*recording.numbers.values()]), torch.zeros(1, dtype=torch.long)
    if output.vector is not None and recording.vector is not None:
        turned = -angle(output.vector, recording.vector.values)
        return torch.tensor([turned]), torch.zeros(1, dtype=torch.long)
    ids = torch.tensor([token.id for token in output.words])
    logits = recording.logits[list(output.places)] if output.places else recording.logits
    log_probs = logits.cpu().double().log_softmax(-1)[: len(ids)]
    own = log_probs.gather(-1, ids[:, None])[:, 0]
    return own.to(at_least_single(logits).dtype), log_probs.argmax(-1)


@torch.inference_mode()
def _classified(
    checkpoint: Checkpoint,
    sources: Sequence[int],
    groups: Sequence[Group],
    tensors: Mapping[Edit, Tensor],
) -> Scored:
    source = torch.tensor([sources], device=checkpoint.device).expand(len(groups), -1)
    with editing(checkpoint.model, checkpoint.family, Editing((), rows=groups, references=tensors)):
        log_probs = at_least_single(checkpoint.model(source)).log_softmax(-1).cpu()
    return Scored(log_probs, log_probs.argmax(-1, keepdim=True))


@torch.inference_mode()
def _together(
    checkpoint: Checkpoint,
    sources: Sequence[int],
    targets: Sequence[int],
    groups: Sequence[Group],
    tensors: Mapping[Edit, Tensor],
    foils: Sequence[int],
) -> Scored:
    states = states_with(checkpoint, sources, targets, groups, tensors)
    log_probs, best = judged(checkpoint, states, [targets, *([foils] if foils else [])])
    return Scored(log_probs[0], best, log_probs[1] if foils else None)


@torch.inference_mode()
def judged(
    checkpoint: Checkpoint, states: Tensor, targets: Sequence[Sequence[int]]
) -> tuple[Tensor, Tensor]:
    """Judge the decoder's last states [N, T, D] of a model of ours, some cells at a time.

    targets: M tokens for each place -> their log-probabilities [M, N, T], and the most probable
    tokens [N, T], on the CPU.
    """
    model: Any = checkpoint.model
    ids = torch.tensor(targets, device=states.device).mT.repeat(len(states), 1)  # [N T, M]
    parts = [
        _judged(at_least_single(model.logits(x)), some)
        for x, some in zip(states.flatten(0, 1).split(CELLS), ids.split(CELLS), strict=True)
    ]
    log_probs, best = (torch.cat(each).cpu() for each in zip(*parts, strict=True))
    return log_probs.mT.unflatten(-1, states.shape[:2]), best.view(states.shape[:2])


@torch.inference_mode()
def states_with(
    checkpoint: Checkpoint,
    sources: Sequence[int],
    targets: Sequence[int],
    groups: Sequence[Group],
    tensors: Mapping[Edit, Tensor],
) -> Tensor:
    """The decoder's last states [N, T, D], which the target is written from: a row per group.

    tensors: what edits refer to.
    """
    model: Any = checkpoint.model
    family = checkpoint.family
    source = torch.tensor([sources], device=checkpoint.device)
    read = torch.tensor([targets], device=checkpoint.device)[:, :-1]
    tried = [tuple(group) for group in groups]
    early = {group: _within(group, "encoder_self") for group in tried}
    if "encoder_self" in family.attentions:
        reading = Growing({each: _first(each) for each in early.values()}, tensors)
        with editing(model, family, reading):
            state = model.start(source)
        read = torch.cat([model.first(source), read], 1)
    else:
        state, read = model.nothing_read(), torch.cat([source, read], 1)
    # What reads another memory is another row from the first layer on.
    writing = Growing({it: 0 if early[it] else _first(it) for it in tried}, tensors)
    for cache in state.caches:
        if cache.cross is not None:
            memories = [reading.rows.index(early.get(row, ())) for row in writing.rows]
            cache.reorder(torch.tensor(memories, device=checkpoint.device))
    with editing(model, family, writing):
        states: Tensor = model.read(state, read)
    wanted = [writing.rows.index(group) for group in tried]
    return states[wanted, -len(targets) :]


def _within(group: Group, place: str) -> tuple[Edit, ...]:
    return tuple(edit for edit in group if place in kinds_of(edit))


def _first(group: Group) -> int:
    """The first layer that is changed."""
    return min(map(first_layer, group), default=0)


def _judged(logits: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
    """Log-probabilities of ids [N, M], the most probable [N], of logits [N, V], which are lost."""
    largest, best = logits.max(-1, keepdim=True)
    own = logits.gather(-1, ids) - largest
    return own - logits.sub_(largest).exp_().sum(-1, keepdim=True).log(), best[:, 0]
