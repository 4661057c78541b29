"""Groups of edits on one text of a model that is watched: a pass each, or the rows of a batch."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import torch
from torch import Tensor

from transformer.checkpoint import Checkpoint
from transformer.device import device_trouble
from transformer.editing.checking import check_edits, side_read
from transformer.editing.editor import Editor, kinds_of
from transformer.editing.references import references
from transformer.edits.edit import Edit
from transformer.edits.spelling import edit_kinds
from transformer.finite import check_finite
from transformer.inputs import source_ids, target_ids
from transformer.recording import Recording
from transformer.recording.ours import record
from transformer.recording.watched import edited_logits, given_for, plan_of
from transformer.recording.watched_batch import logits_of_rows, reads_masks
from transformer.token import Token
from transformer.watch.editing import Plan

ROWS, TOKENS, NUMBERS = 128, 2048, 1 << 26
"""Rows of a batch, their tokens, and the numbers that they give, at most: 256 MiB."""
PRODUCTS = 1 << 36
"""The multiplications of a batch, at most: seconds of a processor, after which a page is told how
far a sweep is, and others have the device."""
FEW = 6
"""Groups up to which a pass each is as fast."""
CLOSE, CLOSE_CHANGE = 1e-4, 0.02
"""The most that a row differs from the pass by itself: as a share of the largest number, and of its
own change; the second beside a tenth of the first, which rounding takes."""

Group = Sequence[Edit]


class WatchedText:
    """One text, with its target, under groups of edits: which attention is which is found once."""

    def __init__(
        self, checkpoint: Checkpoint, source: str, target: str | Sequence[Token] | None
    ) -> None:
        self._checkpoint, self._source, self._target = checkpoint, source, target
        self._sources = source_ids(checkpoint, source)
        self._targets = target_ids(checkpoint, target, len(self._sources)) or []
        family = checkpoint.family
        self._forced = family.forced_pass(checkpoint.config, self._sources, self._targets or None)

    def batches(self, groups: Sequence[Group]) -> Iterator[Sequence[Group]]:
        """Yield the groups, some at a time: as many as may be the rows of a batch."""
        n = 1
        if self._may_be_rows(groups):
            n_tokens = sum(map(len, self._forced.inputs))
            parameters = self._checkpoint.model.parameters()
            n_products = n_tokens * max(1, sum(each.numel() for each in parameters))
            most = TOKENS // n_tokens, NUMBERS // self._plain.numel(), PRODUCTS // n_products
            n = max(1, min(ROWS, *most))
        for first in range(0, len(groups), n):
            yield groups[first : first + n]

    def _may_be_rows(self, groups: Sequence[Group]) -> bool:
        edits = [edit for group in groups for edit in group]
        is_batch = len(groups) > FEW and reads_masks(self._checkpoint)
        return is_batch and all(map(_is_of_attention, edits))

    def alone(self, group: Group) -> Recording:
        """Run the model under a group, for what it gives but attention. Raises EditError."""
        if not all(map(kinds_of, group)):  # of words or positions: another text
            return record(self._checkpoint, self._source, self._target, group)
        editor = self._editor(group)
        return self._recording(self._logits(editor), editor)

    def rows(self, groups: Sequence[Group]) -> list[Recording] | None:
        """The same of each group, as a row of one batch; None: that is not what each is alone."""
        if not self._may_be_rows(groups):
            return None
        try:
            tensors = self._references([edit for group in groups for edit in group])
            editors = [self._editor(group, tensors) for group in groups]
            with device_trouble():
                together = logits_of_rows(self._checkpoint, self._forced, self._plan, editors)
            if len(together) != len(groups) or not self._are_right(groups, together):
                return None
            rows = zip(together, editors, strict=True)
            return [self._recording(logits, editor) for logits, editor in rows]
        except Exception:  # of a stranger's model, which may not know batches, or of an edit
            return None

    @cached_property
    def _plan(self) -> Plan:
        return plan_of(self._checkpoint, self._forced)

    @cached_property
    def _plain(self) -> Tensor:
        return self._logits(self._editor(()))

    def _references(self, edits: Sequence[Edit]) -> Mapping[Edit, Tensor]:
        return references(self._checkpoint, self._source, self._sources, edits)

    def _editor(self, group: Group, tensors: Mapping[Edit, Tensor] | None = None) -> Editor:
        """tensors: what edits refer to, if it is there already. Raises EditError."""
        tensors = self._references(group) if tensors is None else tensors
        check_edits(group, self._plan.sizes, self._plan.sides, side_read(self._checkpoint))
        self._plan.check_words(group, self._forced)
        return Editor(group, tensors)

    def _logits(self, editor: Editor) -> Tensor:
        with device_trouble():
            return edited_logits(self._checkpoint, self._forced, self._plan, editor)

    def _recording(self, logits: Tensor, editor: Editor) -> Recording:
        check_finite(self._checkpoint, self._forced.inputs, logits)
        hidden = editor.hidden(len(self._sources))
        fields = given_for(self._checkpoint, self._targets, logits, hidden)
        return Recording(source=(), target=(), attentions={}, positions={}, **fields)

    def _are_right(self, groups: Sequence[Group], together: Tensor) -> bool:
        """Tell whether rows are what their groups give alone: the last, and the most changed ones.

        Of each kind of attention the most changed row is tried: where rows or heads were mixed up,
        or a row has an influence on others, it is another one.
        """
        changes = (together - self._plain).abs().flatten(1).amax(1)  # [N]
        places = {kinds_of(edit)[0] for group in groups for edit in group}
        tried = {len(groups) - 1}
        for place in places:
            is_there = [any(place in kinds_of(edit) for edit in group) for group in groups]
            tried.add(int(changes.where(torch.tensor(is_there), -1.0).argmax()))
        return all(self._is_close(groups[row], together[row]) for row in tried)

    def _is_close(self, group: Group, row: Tensor) -> bool:
        alone = self._logits(self._editor(group))
        apart = float((row - alone).abs().max())
        rounding = CLOSE * float(alone.abs().max())
        change = float((alone - self._plain).abs().max())
        return apart <= rounding and apart <= CLOSE_CHANGE * change + rounding / 10


def _is_of_attention(edit: Edit) -> bool:
    """Tell whether it changes scores or what heads give, and no words, positions or states."""
    return bool(kinds_of(edit)) and edit_kinds()[edit.name].states is None
