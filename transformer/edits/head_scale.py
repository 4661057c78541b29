"""A head made stronger or weaker."""

from torch import Tensor

from transformer.edits.edit import Edit, EditKind, Value


def scaled(edit: Edit, z: Tensor, reference: Tensor | None) -> Tensor:
    """g z [Q, d_value]."""
    return z * edit.values[0]


EDIT = EditKind(
    name="head-scale",
    title="Scale a head",
    of="head",
    explain="What the head gives is multiplied by a factor before the output projection.",
    formula=r"z^h = g A^h v^h",
    source="Michel et al. 2019, whose gates are 0 or 1",
    values=(Value("Factor", 0.5, -1000, 1000, slider=2),),
    zero="head-off",
    heads=scaled,
)
