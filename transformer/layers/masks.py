"""Masks: which keys a query may attend to. True = may attend, as in torch's fused attention."""

from functools import reduce

import torch
from torch import Tensor


def padding_mask(ids: Tensor, pad_id: int) -> Tensor:
    """ids: [B, K] -> [B, 1, 1, K], False at padding (the same for every head and query)."""
    return ids.ne(pad_id)[:, None, None, :]


def subsequent_mask(n_queries: int, n_keys: int | None = None) -> Tensor:
    """Each position may see itself and what stands before it: [1, 1, Q, K].

    With more keys than queries, the queries are the last ones (AIAYN, section 3.2.3).
    """
    n_keys = n_queries if n_keys is None else n_keys
    cells = torch.ones(n_queries, n_keys, dtype=torch.bool)
    return cells.tril(n_keys - n_queries)[None, None]


def combined_mask(*masks: Tensor) -> Tensor:
    """Open where all of them are; they need only broadcast to one shape."""
    return reduce(torch.logical_and, masks)
