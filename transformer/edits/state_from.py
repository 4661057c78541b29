"""The state of a word at a layer, from another sentence."""

from torch import Tensor

from transformer.edits.edit import Edit, EditKind


def other(edit: Edit, state: Tensor, reference: Tensor) -> Tensor:
    """The reference [D] in the place of what the layer gives for the word [D]."""
    return reference


EDIT = EditKind(
    name="state-from",
    title="State from another sentence",
    of="word",
    explain=(
        "What a layer gives for one word is what it gives at this place in another sentence of as "
        "many words: activation patching of the residual stream."
    ),
    formula=r"x^l_i = x'^l_i",
    source="Meng et al. 2022, section 2; Zhang and Nanda 2023",
    text="needed",
    same_length=True,
    states=other,
)
