"""Biases of distance taken from the scores: ALiBi's slopes, T5's relative bias."""

from torch import Tensor

from transformer.edits.edit import Edit, EditKind


def off(edit: Edit, bias: Tensor) -> Tensor:
    """0 in the place of the bias [Q, K]."""
    return bias.new_zeros(bias.shape)


EDIT = EditKind(
    name="bias-off",
    title="No relative bias",
    of="kind",
    explain=(
        "What the model adds to its scores for the distance of query and key is left out, in all "
        "layers and heads; masks stay."
    ),
    formula=r"s_{ij} = q_i \cdot k_j",
    source="Press et al. 2022",
    bias=off,
)
