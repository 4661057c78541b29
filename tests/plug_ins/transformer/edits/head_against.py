"""A head that pulls the other way."""

from torch import Tensor

from transformer.edits.edit import Edit, EditKind, Value


def against(edit: Edit, z: Tensor, reference: Tensor | None) -> Tensor:
    """-f z [Q, d_value]."""
    return -edit.values[0] * z


EDIT = EditKind(
    name="head-against",
    title="Turn a head around",
    of="head",
    explain="What the head gives is subtracted where it was added, times a number.",
    formula=r"z^h = -f A^h v^h",
    values=(Value("Times", 1, 0.25, 4),),
    heads=against,
)
