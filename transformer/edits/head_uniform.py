"""A head that looks at all words alike."""

from torch import Tensor

from transformer.edits.edit import Edit, EditKind


def uniform(edit: Edit, scores: Tensor, first: int) -> Tensor:
    """0 for every key of [Q, K]; those that a mask closes stay closed."""
    return scores.new_zeros(scores.shape)


EDIT = EditKind(
    name="head-uniform",
    title="Look at all alike",
    of="head",
    explain=(
        "Every query gives the same weight to each key that its mask allows, and nothing to later "
        "words where the model sees none."
    ),
    formula=r"A_{ij} = \frac{1}{n_i}",
    scores=uniform,
)
