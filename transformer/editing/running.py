"""A checkpoint's model with edits, as decoding runs it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from transformer.checkpoint import Checkpoint
from transformer.editing.checking import check_edits, side_read
from transformer.editing.editor import Editor
from transformer.editing.ours import Editing, check, editing
from transformer.editing.references import references
from transformer.edits.edit import Edit
from transformer.models.family import ForcedPass, Ids
from transformer.recording.watched import plan_of
from transformer.watch.editing import EditingWatcher, Plan, check_met


@contextmanager
def edited(
    checkpoint: Checkpoint, source: str, sources: Ids, edits: Sequence[Edit]
) -> Iterator[Any]:
    """Make what decodes in place of the checkpoint's model. Raises EditError.

    Each step is what the forced pass is under the same edits. sources: the tokens that are read.
    """
    if not edits:
        yield checkpoint.model
        return
    tensors = references(checkpoint, source, sources, edits)
    if checkpoint.family.is_watched:
        yield _watched(checkpoint, sources, Editor(edits, tensors))
    else:
        unwritten = _unwritten(checkpoint, sources)
        check(checkpoint, edits, unwritten)
        at_work = Editing(edits, tuple(unwritten.embedded), references=tensors)
        with editing(checkpoint.model, checkpoint.family, at_work):
            yield checkpoint.model


def _unwritten(checkpoint: Checkpoint, sources: Ids) -> ForcedPass:
    """The forced pass over a source whose target nobody knows yet: its sides have no length."""
    forced = checkpoint.family.forced_pass(checkpoint.config, sources, [0])

    def only_sources(ids: Ids) -> Ids:
        return ids if ids is sources else ()

    rows = {
        kind: replace(each, queries=only_sources(each.queries), keys=only_sources(each.keys))
        for kind, each in forced.rows.items()
    }
    embedded = {side: only_sources(ids) for side, ids in forced.embedded.items()}
    return replace(forced, rows=rows, embedded=embedded)


def _watched(checkpoint: Checkpoint, sources: Ids, editor: Editor) -> "_Watched":
    """A pass over the source and a short target shows which attention is which."""
    continues = checkpoint.family.continues
    some = None if continues and len(sources) > 1 else [0] * _FEW
    forced = checkpoint.family.forced_pass(checkpoint.config, sources, some)
    plan = plan_of(checkpoint, forced)
    rows = _unwritten(checkpoint, sources).rows
    sizes = {
        kind: replace(
            each,
            n_queries=len(rows[kind].queries) or None if kind in rows else None,
            n_keys=len(rows[kind].keys) or None if kind in rows else None,
        )
        for kind, each in plan.sizes.items()
    }
    sides = {side: n if side == "source" else None for side, n in plan.sides.items()}
    check_edits(editor.edits, sizes, sides, side_read(checkpoint))
    plan.check_words(editor.edits, forced)
    return _Watched(checkpoint.model, plan, editor)


_FEW = 3
"""Words of a target by which a decoder's attention is told from others."""


class _Watched:
    """A model whose every pass is edited. No keys are kept: each step reads everything again."""

    def __init__(self, model: Any, plan: Plan, editor: Editor) -> None:
        self._model, self._plan, self._editor = model, plan, editor
        self.config, self.first, self.room = model.config, model.first, model.room
        self.rules = getattr(model, "rules", None)

    def start(self, source: Tensor) -> Any:
        with self._watching():
            state = self._model.start(source)
            if hasattr(state, "cache"):
                state.cache = None
            return state

    def advance(self, state: Any, target: Tensor) -> Tensor:
        """Rows are run one by one: a watcher sees one sequence. Raises EditError."""
        logits = []
        for row in range(len(target)):
            one = copy(state)
            one.reorder(torch.tensor([row], device=target.device))
            with self._watching():
                logits.append(self._model.advance(one, target[row : row + 1]))
        state.read = torch.cat([state.read, target], dim=1)
        check_met(self._editor)
        return torch.cat(logits)

    def _watching(self) -> EditingWatcher:
        return EditingWatcher(self._model, self._plan, self._editor, is_kept=False)
