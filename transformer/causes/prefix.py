"""Written words replaced, one by one: what those after them lose.

Hiding its key would not be enough: a word stays in its own row, which writes the next one. So its
embedding is replaced where it is read, at its place: by that of the unknown token, or by the mean
of all embeddings where there is none or where no text that was trained on had it.
"""

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from transformer.analysis.scored import ROWS, judged
from transformer.checkpoint import Checkpoint
from transformer.decoding.alone import OnStep
from transformer.editing.editor import Editor
from transformer.editing.ours import Editing, editing
from transformer.editing.references import references
from transformer.edits.edit import Edit
from transformer.inputs import InputError
from transformer.models.family import ForcedPass, Ids
from transformer.recording.watched import edited_logits, plan_of
from transformer.watch.capture.as_written import as_written
from transformer.watch.capture.operators import watching

FIRST = 300
"""Pieces at the beginning of a vocabulary among which special ones and single bytes stand."""
_BYTE = re.compile(r"<0x[0-9A-F]{2}>")


def stand_in(checkpoint: Checkpoint) -> int | None:
    """Find the unknown token; None where there is none, or where bytes leave nothing unknown.

    Then it is never read in training: in en-de its embedding is that of any piece that was not,
    near the mean (cosine .99; 300 words of the stage set name the same first word by both in 89 %,
    rank correlation .87).
    """
    n = min(FIRST, checkpoint.config.vocab_size)
    tokens = [checkpoint.tokenizer.token(id) for id in range(n)]
    if any(_BYTE.fullmatch(token.piece) for token in tokens):
        return None
    return next((token.id for token in tokens if token.unknown), None)


def replaced(
    checkpoint: Checkpoint,
    text: str,
    sources: Ids,
    targets: Ids,
    words: Sequence[Sequence[int]],
    edits: Sequence[Edit] = (),
    unknown: int | None = None,
    on_step: OnStep | None = None,
) -> Tensor:
    """Log-probabilities of the target [N, T] with each of N words of it replaced.

    words: the places of its pieces. edits: in force. unknown: the token in their place; None: the
    mean embedding. on_step: called between two batches, or runs. What is written before a word
    keeps its own. Raises EditError.
    """
    forced = checkpoint.family.forced_pass(checkpoint.config, sources, targets)
    first = len(forced.inputs[-1]) - len(targets) + 1  # where the target's first token is read
    marks = torch.zeros(len(words), len(forced.inputs[-1]) + 1, dtype=torch.bool)
    for row, word in enumerate(words):
        marks[row, [first + place for place in word]] = True
    marks = marks[:, :-1].to(checkpoint.device)  # nothing reads the last one
    tensors = references(checkpoint, text, sources, edits)
    if checkpoint.family.is_watched:
        logits = _watched(checkpoint, forced, marks, unknown, Editor(edits, tensors), on_step)
        scores = logits[:, -len(targets) :].log_softmax(-1)
        return scores[:, range(len(targets)), targets].float()
    parts = []
    for some in marks.split(ROWS):
        at_work = _Replacing(edits, tuple(forced.embedded)[-1:], references=tensors)
        at_work.replace(checkpoint, some, unknown)
        states = _states(checkpoint, forced, sources, len(some), at_work)
        parts.append(judged(checkpoint, states[:, -len(targets) :], [targets])[0][0])
        if on_step is not None:
            on_step()
    return torch.cat(parts)


class _Replacing(Editing):
    """Edits of a call that reads a target, and one embedding in the place of some of its own."""

    def replace(self, checkpoint: Checkpoint, marks: Tensor, unknown: int | None) -> None:
        """marks: bool [B, T], where it stands."""
        table: Any = checkpoint.model.embedding
        self._marks, self._row = marks, _row(table.weight, unknown) * table.scale

    def embedded(self, ids: Tensor, rows: Tensor) -> Tensor:
        return torch.where(self._marks[..., None], self._row.to(rows.dtype), rows)


@torch.inference_mode()
def _states(
    checkpoint: Checkpoint, forced: ForcedPass, sources: Ids, n_rows: int, at_work: Editing
) -> Tensor:
    """The decoder's last states [N, T, D] of a model of ours: a row per replaced word."""
    model: Any = checkpoint.model
    family, sides = checkpoint.family, tuple(forced.embedded)
    if family.continues:
        state = model.nothing_read()
    else:
        reading = Editing(at_work.edits, sides, references=at_work.references)
        with editing(model, family, reading):
            state = model.start(torch.tensor([sources], device=checkpoint.device))
    state.reorder(torch.zeros(n_rows, dtype=torch.long, device=checkpoint.device))
    read = torch.tensor([forced.inputs[-1]], device=checkpoint.device).expand(n_rows, -1)
    with editing(model, family, at_work):
        states: Tensor = model.read(state, read)
    return states


def _watched(
    checkpoint: Checkpoint,
    forced: ForcedPass,
    marks: Tensor,
    unknown: int | None,
    editor: Editor,
    on_step: OnStep | None,
) -> Tensor:
    """Logits [N, T, V] in float64 of any other model, which runs once for each row of marks."""
    plan = plan_of(checkpoint, forced) if editor.edits else None
    rows = [torch.tensor([ids], device=checkpoint.device) for ids in forced.inputs]
    result = []
    for mark in marks:
        with _tables_give(checkpoint.model, rows[-1], mark, unknown), torch.inference_mode():
            if plan is None:
                logits: Tensor = checkpoint.model(*rows)[0]
            else:
                logits = edited_logits(checkpoint, forced, plan, editor)
        result.append(logits.cpu().double())
        if on_step is not None:
            on_step()
    return torch.stack(result)


@contextmanager
def _tables_give(
    model: nn.Module, read: Tensor, mark: Tensor, unknown: int | None
) -> Iterator[None]:
    """While entered, tables of words that read these ids in this thread give another row.

    mark: bool [T], where that is. Raises InputError at the end where none did.
    """
    thread, fired = threading.get_ident(), []

    def hook(table: nn.Module, inputs: tuple[Any, ...], rows: Tensor) -> Tensor | None:
        ids = inputs[0] if inputs else None
        if threading.get_ident() != thread or not isinstance(ids, Tensor):
            return None
        with watching(None):
            if not torch.equal(ids.flatten(), read.flatten()) or not _is_of_words(table, ids, rows):
                return None
            fired.append(table)
            row = _of_table(table, unknown).to(rows.dtype)
            return torch.where(mark[:, None], row, rows.flatten(0, -2)).view_as(rows)

    with ExitStack() as hooks:
        hooks.enter_context(as_written())
        for table in model.modules():
            if isinstance(table, nn.Embedding):
                hooks.callback(table.register_forward_hook(hook).remove)
        yield
    if not fired:
        raise InputError("This model reads what is written through no table that torch shows.")


def _is_of_words(table: nn.Module, ids: Tensor, rows: Tensor) -> bool:
    """Tell whether ids [..., T] the other way round give the rows [..., T, D] so: not of places.

    BART's table of positions is given the ids, to count them.
    """
    turned: Tensor = table.forward(ids.flip(-1))
    return torch.equal(turned, rows.flip(-2))


def _of_table(table: Any, unknown: int | None) -> Tensor:
    """The row as the table gives it: some scale theirs."""
    one = torch.tensor([1 if unknown is None else unknown], device=table.weight.device)
    scaled, own = table.forward(one).float(), table.weight[one].float()
    if unknown is not None:
        return scaled[0]
    scale = scaled.norm() / own.norm().clamp_min(1e-20)
    return _row(table.weight, None) * scale


def _row(weight: Tensor, unknown: int | None) -> Tensor:
    """One embedding [D] of [V, D]: that of the unknown token, or the mean."""
    row = weight.float().mean(0) if unknown is None else weight[unknown].float()
    return row.detach()
