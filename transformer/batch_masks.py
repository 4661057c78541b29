"""The masks of a padded batch, sentence by sentence: which cells each of them leaves open.

`batch_masks` are those of the textbook: padding closes a place, whatever stands there, and no word
of a decoder sees a later one. `used_masks` are what a model did when it ran over the padded rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from transformer.checkpoint import Checkpoint
from transformer.layers.attention import combined_mask, subsequent_mask
from transformer.models.family import Ids
from transformer.recording import Attention, AttentionCall, Recording
from transformer.recording.ours import calls_of
from transformer.recording.watched import watched_calls
from transformer.token import Token


@dataclass(frozen=True, eq=False)
class SentenceMasks:
    """One sentence of a batch: the masks of one kind of attention. True = may attend."""

    queries: tuple[Token, ...]
    """The token at each row, padding at the end."""
    keys: tuple[Token, ...]
    """The token at each column, padding at the end."""
    n_queries: int
    """The number of queries that are not padding."""
    n_keys: int
    """The number of keys that are not padding."""
    padding: Tensor
    """bool [Q, K], False in the columns of padding; True everywhere where no mask closes them."""
    subsequent: Tensor | None
    """bool [Q, K], False above the diagonal; None where no mask closes that."""
    other: Tensor | None = None
    """bool [Q, K], False where something else closes a cell: a window; None where nothing does."""
    varies: bool = False
    """True: other layers or heads of the model leave other cells open."""

    @property
    def n_padding(self) -> int:
        """The number of keys that are padding."""
        return len(self.keys) - self.n_keys

    @property
    def combined(self) -> Tensor:
        """The cells that all masks together leave open: bool [Q, K]."""
        masks = (self.padding, self.subsequent, self.other)
        return combined_mask(*(mask for mask in masks if mask is not None))


def batch_masks(attentions: Sequence[Attention], pad: Token) -> list[SentenceMasks]:
    """One kind of attention in several recordings, as if their sentences were one batch."""
    queries = padded([attention.queries for attention in attentions], pad)
    keys = padded([attention.keys for attention in attentions], pad)
    n_queries, n_keys = len(queries[0]), len(keys[0])
    is_causal = attentions[0].is_decoder
    subsequent = subsequent_mask(n_queries, n_keys)[0, 0] if is_causal else None
    return [
        SentenceMasks(
            queries=row,
            keys=columns,
            n_queries=len(attention.queries),
            n_keys=len(attention.keys),
            padding=(torch.arange(n_keys) < len(attention.keys)).expand(n_queries, -1),
            subsequent=subsequent,
        )
        for row, columns, attention in zip(queries, keys, attentions, strict=True)
    ]


def used_masks(
    checkpoint: Checkpoint, recordings: Sequence[Recording], kind: str
) -> list[SentenceMasks] | None:
    """Read the masks of the model's first layer and head of this kind, in a padded batch.

    The model runs over each sentence of the batch with padding at the end of what it reads. None
    where what was seen there does not have the rows and columns of the kind. Raises InputError.
    """
    passes = [
        checkpoint.family.forced_pass(
            checkpoint.config,
            [token.id for token in recording.source],
            [token.id for token in recording.target] or None,
        )
        for recording in recordings
    ]
    lengths = [max(map(len, rows)) for rows in zip(*(each.inputs for each in passes), strict=True)]
    pad = max(0, checkpoint.config.pad_id)  # -1 stands for none
    textbook = batch_masks([each.attentions[kind] for each in recordings], pad_token(checkpoint))
    result = []
    for masks, forced in zip(textbook, passes, strict=True):
        inputs: list[Ids] = [
            [*ids, *[pad] * (length - len(ids))]
            for ids, length in zip(forced.inputs, lengths, strict=True)
        ]
        calls: dict[str, list[AttentionCall]] = (
            watched_calls(checkpoint, forced, inputs, len(forced.inputs[0]))
            if checkpoint.family.is_watched
            else calls_of(checkpoint, inputs)
        )
        open_cells = [call.allowed().cpu() for call in calls.get(kind, ())]  # [H, Q, K] each
        if not open_cells or open_cells[0].shape[1:] != masks.padding.shape:
            return None
        first = open_cells[0][0]
        varies = any(not torch.equal(each, first.expand_as(each)) for each in open_cells)
        result.append(replace(told_apart(masks, first), varies=varies))
    return result


def told_apart(textbook: SentenceMasks, allowed: Tensor) -> SentenceMasks:
    """Find the masks that leave these cells open, bool [Q, K]: each closes all that is its own.

    What neither of the two of the textbook accounts for is closed by another.
    """
    later = ~subsequent_mask(*allowed.shape)[0, 0]
    is_causal = allowed.size(0) == allowed.size(1) and bool(later.any())
    subsequent = ~later if is_causal and not bool((allowed & later).any()) else None
    hides_padding = not bool((allowed & ~textbook.padding).any())
    padding = textbook.padding if hides_padding else torch.ones_like(allowed)
    masks = replace(textbook, padding=padding, subsequent=subsequent)
    other = allowed | ~masks.combined
    return masks if bool(other.all()) else replace(masks, other=other)


def pad_token(checkpoint: Checkpoint) -> Token:
    """Return the token at padding: a model without one for it has one nevertheless, by name."""
    pad_id = max(0, checkpoint.config.pad_id)
    if checkpoint.family.recorded is not None:  # a text by itself, of which any id may be
        return Token(pad_id, "<pad>", special=True)
    token = checkpoint.tokenizer.token(pad_id)
    return token if token.special else Token(token.id, "<pad>", special=True)


def padded(rows: Sequence[tuple[Token, ...]], pad: Token) -> list[tuple[Token, ...]]:
    """Every row as long as the longest, with padding at the end."""
    longest = max(map(len, rows))
    return [row + (pad,) * (longest - len(row)) for row in rows]
