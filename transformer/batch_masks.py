"""The masks of a padded batch, sentence by sentence: which cells each of them leaves open.

Made by the functions that the models use, from the tokens of recordings, which have no padding.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from transformer.layers.masks import combined_mask, padding_mask, subsequent_mask
from transformer.recording import Attention
from transformer.tokenizer import Token


@dataclass(frozen=True, eq=False)
class SentenceMasks:
    """One sentence of a batch: the masks of one kind of attention. True = may attend."""

    queries: tuple[Token, ...]
    """The token at each row, padding at the end."""
    keys: tuple[Token, ...]
    """The token at each column, padding at the end."""
    padding: Tensor
    """bool [Q, K], False in the columns of padding."""
    subsequent: Tensor | None
    """bool [Q, K], False above the diagonal; None where every query may see all keys."""

    @property
    def n_padding(self) -> int:
        """How many of the keys are padding."""
        return int((~self.padding[0]).sum())

    @property
    def combined(self) -> Tensor:
        """What all masks together leave open: bool [Q, K]."""
        if self.subsequent is None:
            return self.padding
        return combined_mask(self.padding, self.subsequent)


def batch_masks(attentions: Sequence[Attention], pad: Token) -> list[SentenceMasks]:
    """One kind of attention in several recordings, as if their sentences were one batch."""
    queries = padded([attention.queries for attention in attentions], pad)
    keys = padded([attention.keys for attention in attentions], pad)
    ids = torch.tensor([[token.id for token in row] for row in keys])
    n_queries, n_keys = len(queries[0]), len(keys[0])
    padding = padding_mask(ids, pad.id).expand(-1, 1, n_queries, n_keys)[:, 0]  # [B, Q, K]
    is_causal = attentions[0].kind == "decoder_self"
    subsequent = subsequent_mask(n_queries, n_keys)[0, 0] if is_causal else None
    return [
        SentenceMasks(*row, subsequent) for row in zip(queries, keys, padding.unbind(), strict=True)
    ]


def padded(rows: Sequence[tuple[Token, ...]], pad: Token) -> list[tuple[Token, ...]]:
    """Every row as long as the longest, with padding at the end."""
    longest = max(map(len, rows))
    return [row + (pad,) * (longest - len(row)) for row in rows]
