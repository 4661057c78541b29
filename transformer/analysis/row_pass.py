"""One decoding step whose rows of attention are given, through which gradients flow back to them.

The shared model is only run: gradients are asked of the rows alone, and nothing is kept in it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from transformer.checkpoint import Checkpoint
from transformer.editing.ours import Editing, editing
from transformer.editing.references import references
from transformer.edits.edit import Edit

Head = tuple[str, int, int]
"""Kind, layer and head."""


class RowPass:
    """A source, what is written before a step, and the logits of that step for any rows."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        source: str,
        sources: Sequence[int],
        output: Sequence[int],
        edits: Sequence[Edit] = (),
    ) -> None:
        """edits: in force in every pass. What was read before the step is read once, here."""
        self._checkpoint, self._edits = checkpoint, edits
        self._given = references(checkpoint, source, sources, edits)
        forced = checkpoint.family.forced_pass(checkpoint.config, sources, [*output, 0])
        self._sides = tuple(forced.embedded)
        model: Any = checkpoint.model
        ids = torch.tensor([sources], device=checkpoint.device)
        read = torch.cat([model.first(ids), ids.new_tensor([output], dtype=ids.dtype)], 1)
        self._last = read[:, -1:]
        at_work = Editing(edits, self._sides, references=self._given)
        with torch.no_grad(), editing(model, checkpoint.family, at_work):
            self._state = model.start(ids)
            if read.size(1) > 1:
                model.read(self._state, read[:, :-1])

    def logits(self, rows: Mapping[Head, Tensor]) -> Tensor:
        """[V] in float32, where these heads look so: weights [K] of the step's own query."""
        state = self._state
        state = replace(state, caches=[replace(cache) for cache in state.caches])
        editor = _Given(rows, self._edits, self._sides[-1:], references=self._given)
        model: Any = self._checkpoint.model
        with editing(model, self._checkpoint.family, editor):
            logits: Tensor = model.advance(state, self._last)[0, -1].float()
        return logits


class _Given(Editing):
    """The rows of some heads in one step; edits act before, and on what these heads give."""

    def __init__(self, rows: Mapping[Head, Tensor], *others: Any, **named: Any) -> None:
        super().__init__(*others, **named)
        self._forced = rows

    def attended(
        self, kind: str, layer: int, scale: float, heads: Tensor, *call: Any
    ) -> Tensor | None:
        """In a copy: what attention gave is needed for gradients as it was."""
        heads = heads.clone()
        super().attended(kind, layer, scale, heads, *call)
        v: Tensor = call[2]
        first = 0 if kind == "encoder_self" else self._n_before
        for (of, at, head), weights in self._forced.items():
            if (of, at) == (kind, layer):
                z = (weights.to(v.device) @ v[0, head].float())[None].to(heads.dtype)
                self._all.reheaded(kind, layer, head, z, first)
                heads[0, head] = z
        return heads
