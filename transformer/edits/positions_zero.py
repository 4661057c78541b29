"""Positions taken away: words that stand anywhere."""

from torch import Tensor

from transformer.edits.edit import Edit, EditKind


def nothing(edit: Edit, encodings: Tensor) -> Tensor:
    """0 in the place of the encodings [T, D], or of the angles of rotary positions [T, n]."""
    return encodings.new_zeros(encodings.shape)


EDIT = EditKind(
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
