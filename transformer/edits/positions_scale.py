"""Positions made larger or smaller beside what the words mean."""

from torch import Tensor

from transformer.edits.edit import Edit, EditKind, Value


def scaled(edit: Edit, encodings: Tensor) -> Tensor:
    """g times the encodings [T, D]; of rotary positions g times the angles [T, n]."""
    return encodings * edit.values[0]


EDIT = EditKind(
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
