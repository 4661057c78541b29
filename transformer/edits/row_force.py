"""A row of weights that a person writes down."""

from torch import Tensor

from transformer.edits.edit import Edit, EditKind, Value


def forced(edit: Edit, scores: Tensor, first: int) -> Tensor:
    """The logarithm of the weights in the place of the scores [1, K]; keys without one get 0."""
    weights = scores.new_zeros(scores.shape)
    row = scores.new_tensor(edit.values)[: scores.size(1)]
    weights[0, : len(row)] = row
    return weights.log()


EDIT = EditKind(
    name="row-force",
    title="Force a row",
    of="row",
    explain="The query's weights are these numbers, divided by their sum; masked keys stay at 0.",
    formula=r"A_i = a / \sum_j a_j",
    further=Value("Weight", 1, 0, 1e6),
    scores=forced,
)
