"""Two tokens that change places before the model reads them, in positions that stay."""

import torch
from torch import Tensor

from transformer.edits.edit import Edit, EditKind, Value

_TOKEN = Value("Token", 0, 0, 10**6, is_whole=True, is_token=True)


def swapped(edit: Edit, ids: Tensor) -> Tensor:
    """Token j where token i was, and the other way round, of [T]."""
    i, j = map(int, edit.values)
    order = torch.arange(len(ids), device=ids.device)
    order[i], order[j] = j, i
    return ids[order]


EDIT = EditKind(
    name="words-swap",
    title="Swap two tokens",
    of="side",
    explain=(
        "Two tokens of the text are exchanged before the model reads it, and positions stay where "
        "they are: as if the text had been entered so. Their numbers count tokens, where those of "
        "a hidden word count words. What the model writes cannot be swapped."
    ),
    formula=r"x_i = e_j + p_i, \quad x_j = e_i + p_j",
    values=(_TOKEN, _TOKEN),
    words=swapped,
)
