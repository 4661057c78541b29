"""A head that says the same for every word."""

from torch import Tensor

from transformer.edits.edit import Edit, EditKind


def mean(edit: Edit, z: Tensor, reference: Tensor | None) -> Tensor:
    """The mean of the reference [R, d_value] in each row of z [Q, d_value]."""
    assert reference is not None
    return reference.mean(0).expand(z.shape)


EDIT = EditKind(
    name="head-mean",
    title="Mean of a head",
    of="head",
    explain=(
        "For every word the head gives its mean over the words of a run that nothing changes, of "
        "this sentence or of one that is written here; a target is what greedy decoding writes. "
        "This is mean ablation."
    ),
    formula=r"z^h_i = \frac{1}{n} \sum_j z^h_j",
    source="Wang et al. 2022, section 2.2",
    text="optional",
    heads=mean,
)
