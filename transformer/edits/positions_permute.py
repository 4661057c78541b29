"""Words that stand in an order that a person writes down."""

from torch import Tensor

from transformer.edits.edit import Edit, EditKind, Value


def permuted(edit: Edit, places: Tensor) -> Tensor:
    """The position at which each word [T] stands; words after those that are named stay."""
    moved = places.clone()
    for word, place in enumerate(edit.values):
        moved[places == word] = int(place)
    return moved


EDIT = EditKind(
    name="positions-permute",
    title="Permute positions",
    of="side",
    explain="Each word stands at the position that is written here, the first word at the first.",
    formula=r"x_t = e_t + p_{\sigma(t)}",
    source="Sinha et al. 2021, section 3",
    further=Value("Position", 0, 0, 10**6, is_whole=True),
    places=permuted,
)
