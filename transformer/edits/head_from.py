"""A head that attends to another sentence."""

from torch import Tensor

from transformer.edits.edit import Edit, EditKind


def other(edit: Edit, z: Tensor, reference: Tensor | None) -> Tensor:
    """The reference's rows [R, d_value] in those of z [Q, d_value] that it has."""
    assert reference is not None
    patched = z.clone()
    patched[: len(reference)] = reference.to(z.dtype)
    return patched


EDIT = EditKind(
    name="head-from",
    title="Head from another sentence",
    of="head",
    explain=(
        "The head gives, word by word, what it gives in another sentence of as many words; in a "
        "translator's decoder, where greedy decoding writes that sentence's translation."
    ),
    formula=r"z^h = z'^h",
    source="Wang et al. 2022; Zhang and Nanda 2023",
    text="needed",
    same_length=True,
    heads=other,
)
