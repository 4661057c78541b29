"""Edits of positions, and of the order of words."""

import torch
from torch import Tensor

from transformer.edits.edit import Edit, EditKind, Value

# All words moved to later positions.


def shifted(edit: Edit, places: Tensor) -> Tensor:
    """t + k of [T]."""
    return places + int(edit.values[0])


POSITIONS_SHIFT_EDIT = EditKind(
    name="positions-shift",
    title="Shift positions",
    of="side",
    explain=(
        "Every word stands k positions later than it does; a model that knows distances only "
        "attends as before."
    ),
    formula=r"x_t = e_t + p_{t + k}",
    source="Sinha et al. 2022",
    values=(Value("Positions", 1, -(10**6), 10**6, is_whole=True),),
    places=shifted,
)


# Positions made larger or smaller beside what the words mean.


def scaled(edit: Edit, encodings: Tensor) -> Tensor:
    """g times the encodings [T, D]; of rotary positions g times the angles [T, n]."""
    return encodings * edit.values[0]


POSITIONS_SCALE_EDIT = EditKind(
    name="positions-scale",
    title="Scale positions",
    of="side",
    explain=(
        "The encodings of positions are multiplied by a factor; of rotary positions, the angles by "
        "which queries and keys turn, as in position interpolation."
    ),
    formula=r"x_t = e_t + g p_t",
    source="of angles: Chen et al. 2023",
    values=(Value("Factor", 0.5, -100, 100),),
    encodings=scaled,
)


# Two words that change their positions.

# The number of a place, not of a token: another text has the same places, so the edit stays.
_WORD = Value("Word", 0, 0, 10**6, is_whole=True)


def swapped_positions_swap(edit: Edit, places: Tensor) -> Tensor:
    """i where j was and j where i was, of [T].

    The places may have moved already: then the words that stand there now change places.
    """
    i, j = map(int, edit.values)
    return torch.where(places == i, j, torch.where(places == j, i, places))


POSITIONS_SWAP_EDIT = EditKind(
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
    places=swapped_positions_swap,
)


# Words that stand in an order that a person writes down.


def permuted(edit: Edit, places: Tensor) -> Tensor:
    """The position at which each word [T] stands; words after those that are named stay."""
    moved = places.clone()
    for word, place in enumerate(edit.values):
        moved[places == word] = int(place)
    return moved


POSITIONS_PERMUTE_EDIT = EditKind(
    name="positions-permute",
    title="Permute positions",
    of="side",
    explain="Each word stands at the position that is written here, the first word at the first.",
    formula=r"x_t = e_t + p_{\sigma(t)}",
    source="Sinha et al. 2021, section 3",
    further=Value("Position", 0, 0, 10**6, is_whole=True),
    places=permuted,
)


# Positions taken away: words that stand anywhere.


def nothing(edit: Edit, encodings: Tensor) -> Tensor:
    """0 in the place of the encodings [T, D], or of the angles of rotary positions [T, n]."""
    return encodings.new_zeros(encodings.shape)


POSITIONS_ZERO_EDIT = EditKind(
    name="positions-zero",
    title="No positions",
    of="side",
    explain=(
        "What tells the words' places apart is set to 0: an encoder then reads a bag of words. A "
        "causal mask still tells earlier from later."
    ),
    formula=r"x_t = e_t",
    source="Sinha et al. 2022; Kazemnejad et al. 2023",
    encodings=nothing,
)


# Rotary positions that turn faster or slower.


def frequencies(edit: Edit, steps: Tensor) -> Tensor:
    """base ** (-i / n), radians per position of pair i, for the n pairs of steps [n]."""
    n = len(steps)
    return edit.values[0] ** (-torch.arange(n, device=steps.device) / n).to(steps)


ROTARY_BASE_EDIT = EditKind(
    name="rotary-base",
    title="Rotary base",
    of="side",
    explain=(
        "Queries and keys turn by the frequencies of another base: a larger one makes far words "
        "look nearer. Scalings of a longer context are left out."
    ),
    formula=r"f_i = b^{-i / n}",
    source="Su et al. 2021, section 3.3",
    values=(Value("Base", 10000, 1.0001, 1e9),),
    frequencies=frequencies,
)


# Two tokens that change places before the model reads them, in positions that stay.

_TOKEN = Value("Token", 0, 0, 10**6, is_whole=True, is_token=True)


def swapped_words_swap(edit: Edit, ids: Tensor) -> Tensor:
    """Token j where token i was, and the other way round, of [T]."""
    i, j = map(int, edit.values)
    order = torch.arange(len(ids), device=ids.device)
    order[i], order[j] = j, i
    return ids[order]


WORDS_SWAP_EDIT = EditKind(
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
    words=swapped_words_swap,
)


EDIT = (
    POSITIONS_SHIFT_EDIT,
    POSITIONS_SCALE_EDIT,
    POSITIONS_SWAP_EDIT,
    POSITIONS_PERMUTE_EDIT,
    POSITIONS_ZERO_EDIT,
    ROTARY_BASE_EDIT,
    WORDS_SWAP_EDIT,
)
