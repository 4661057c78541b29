"""Two words that change their positions."""

import torch
from torch import Tensor

from transformer.edits.edit import Edit, EditKind, Value

# The number of a place, not of a token: another text has the same places, so the edit stays.
_WORD = Value("Word", 0, 0, 10**6, is_whole=True)


def swapped(edit: Edit, places: Tensor) -> Tensor:
    """i where j was and j where i was, of [T].

    The places may have moved already: then the words that stand there now change places.
    """
    i, j = map(int, edit.values)
    return torch.where(places == i, j, torch.where(places == j, i, places))


EDIT = EditKind(
    name="positions-swap",
    title="Swap two positions",
    of="side",
    explain=(
        "Two words stand in each other's positions and keep their order in the text: what changes "
        "is what the model takes from places. Several swaps happen one after the other: each "
        "exchanges who stands at two positions then, and the words' numbers are those of positions."
    ),
    formula=r"x_i = e_i + p_j, \quad x_j = e_j + p_i",
    values=(_WORD, _WORD),
    places=swapped,
)
