"""The edits that can change a target: those of rows, and of keys, behind its end cannot."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from transformer.checkpoint import Checkpoint
from transformer.edits.edit import NUMBERS, Edit
from transformer.edits.spelling import edit_kinds
from transformer.inputs import source_ids, target_ids
from transformer.token import Token


def within(
    checkpoint: Checkpoint, text: str, target: str | Sequence[Token], edits: Sequence[Edit]
) -> tuple[Edit, ...]:
    """Return the edits of a longer target as they are of this one, which may be a part of it.

    A decoder sees no later word, so what an edit names behind the end changes nothing before it: a
    row or an arrow there is left out, and so are the keys there that a row or a head names. Any
    other edit stays as it is. Raises InputError for a text that cannot be read.
    """
    if not edits or not checkpoint.family.decodes:
        return tuple(edits)
    sources = source_ids(checkpoint, text)
    targets = target_ids(checkpoint, target, len(sources))
    n_rows = len(checkpoint.family.forced_pass(checkpoint.config, sources, targets).inputs[-1])
    return tuple(part for edit in edits for part in _part(edit, n_rows))


def _part(edit: Edit, n_rows: int) -> Iterator[Edit]:
    """The edit, as it is of the first rows of a decoder, or nothing."""
    kind = edit_kinds()[edit.name]
    names = NUMBERS[kind.of] if edit.place in ("decoder_self", "cross") else ()
    if "query" in names and edit.query >= n_rows:
        return
    if edit.place == "decoder_self":  # whose keys are its rows
        if "key" in names and edit.key >= n_rows:
            return
        if kind.further is not None:
            edit = _keys(edit, n_rows)
            if len(edit.values) == len(kind.values):
                return
    yield edit


def _keys(edit: Edit, n_rows: int) -> Edit:
    """The edit without the keys behind the end, which its values name or are a number each for."""
    kind = edit_kinds()[edit.name]
    n = len(kind.values)
    own, keys = edit.values[:n], edit.values[n:]
    is_named = kind.further is not None and kind.further.is_token
    first = tuple(key for key in keys if key < n_rows) if is_named else keys[:n_rows]
    return replace(edit, values=(*own, *first))
