"""The words that a model is given to read, where edits are of the words themselves."""

from collections.abc import Sequence
from typing import Any

import torch

from transformer.checkpoint import Checkpoint
from transformer.edits.edit import Edit, EditError
from transformer.edits.spelling import edit_kinds
from transformer.inputs import source_ids
from transformer.models.family import Ids
from transformer.vocabulary import source_side
from transformer.words import word_groups


def read_words(
    checkpoint: Checkpoint, source: str, edits: Sequence[Edit]
) -> tuple[list[int], tuple[Edit, ...]]:
    """Token ids of a source text as edits leave them, and the edits that are of the model itself.

    Words are exchanged before anything is embedded: so it is the same in every model, and a cache
    never holds the old ones. Raises InputError, EditError.
    """
    ids = torch.tensor(source_ids(checkpoint, source))
    of_model = []
    for edit in edits:
        words = edit_kinds()[edit.name].words
        if words is None:
            of_model.append(edit)
            continue
        _check(checkpoint, edit, len(ids))
        ids = words(edit, ids)
    return ids.tolist(), tuple(of_model)


def side_read(checkpoint: Checkpoint) -> str:
    """Name the side that holds the source text: "text" where a model has one side."""
    return "source" if checkpoint.family.reads == "source" else "text"


def pieces(checkpoint: Checkpoint, sources: Ids, edits: Sequence[Edit]) -> dict[Edit, torch.Tensor]:
    """Edit -> the places of its word, for edits of words that are read. Raises EditError.

    [1, n] in the text; a second row, those in the decoder, where it reads the text again.
    """
    of_words = [edit for edit in edits if edit_kinds()[edit.name].of == "read word"]
    if not of_words:
        return {}
    groups = word_groups([*map(source_side(checkpoint.tokenizer).token, sources)])
    for edit in of_words:
        if edit.numbers[0] >= len(groups):
            raise EditError(
                f"{edit}: there is no word {edit.numbers[0]} here; the {side_read(checkpoint)} has "
                f"{len(groups)}, counted from 0."
            )
    places = {edit: torch.tensor([groups[edit.numbers[0]]]) for edit in of_words}
    if not reads_again(checkpoint):
        return places
    n = len(sources)
    return {edit: torch.cat([it, _again(checkpoint, it, n)]) for edit, it in places.items()}


def reads_again(checkpoint: Checkpoint) -> bool:
    """Tell whether the decoder reads the text as well, and writes nothing."""
    family = checkpoint.family
    return "cross" in family.attentions and not family.decodes


def _again(checkpoint: Checkpoint, places: torch.Tensor, n: int) -> torch.Tensor:
    """Places in a decoder that begins with its start token, or without one with the last word."""
    config: Any = checkpoint.config
    return places + 1 if config.start_ids else (places + 1) % n


def _check(checkpoint: Checkpoint, edit: Edit, n_words: int) -> None:
    side = side_read(checkpoint)
    if edit.place != side:
        raise EditError(f"{edit}: the words that this model reads are its {side}.")
    for word in edit.values:
        if word >= n_words:
            raise EditError(
                f"{edit}: there is no token {int(word)} here; the {side} has {n_words}, "
                "counted from 0."
            )
