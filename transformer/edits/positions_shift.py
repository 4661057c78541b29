"""All words moved to later positions."""

from torch import Tensor

from transformer.edits.edit import Edit, EditKind, Value


def shifted(edit: Edit, places: Tensor) -> Tensor:
    """t + k of [T]."""
    return places + int(edit.values[0])


EDIT = EditKind(
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
