"""A head that pulls the other way."""

from torch import Tensor

from transformer.edits.edit import Edit, EditKind


def against(edit: Edit, z: Tensor, reference: Tensor | None) -> Tensor:
    """-z [Q, d_value]."""
    return -z


EDIT = EditKind(
    name="head-against",
    title="Turn a head around",
    of="head",
    explain="What the head gives is subtracted where it was added.",
    formula=r"z^h = -A^h v^h",
    heads=against,
)
