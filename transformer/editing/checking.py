"""Checks that what edits are of is there, and the words that a model is given to read."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from transformer.checkpoint import Checkpoint
from transformer.editing.editor import Sizes
from transformer.edits.edit import NUMBERS, Edit, EditError, EditKind
from transformer.edits.spelling import edit_kinds
from transformer.inputs import source_ids
from transformer.models.family import Ids
from transformer.vocabulary import source_side
from transformer.words import word_groups

# Checks that what edits are of is there, before anything runs.


def check_edits(
    edits: Sequence[Edit],
    sizes: Mapping[str, Sizes],
    sides: Mapping[str, int | None],
    side_read: str = "",
) -> None:
    """Raise EditError for an edit of what is not there.

    sizes: kind of attention -> what it has; sides: side -> its words, None: still written.
    side_read: the one that holds the text; empty: no text is read.
    """
    for edit in edits:
        kind = edit_kinds()[edit.name]
        if kind.closes is not None:
            _check_closed(edit, kind, sizes, side_read)
            continue
        names: Mapping[str, object] = sides if kind.of == "side" else sizes
        if edit.place not in names:
            what = "positions are added to" if kind.of == "side" else "attentions are"
            text = f"this model's {what} {', '.join(names)}" if names else _nothing(kind)
            raise EditError(f"{edit}: there is no {edit.place!r} here; {text}.")
        if kind.of == "side":
            # Values of whole numbers that name words or positions of them; a shift is none.
            n_words = sides[edit.place]
            named = edit.values if kind.places and (kind.further or len(kind.values) > 1) else ()
            for word in named:
                if n_words is not None and word >= n_words:
                    raise EditError(
                        f"{edit}: there is no word {int(word)} here; "
                        f"the {edit.place} has {n_words}, counted from 0."
                    )
        else:
            _check_numbers(edit, kind, sizes[edit.place])


def _check_closed(edit: Edit, kind: EditKind, sizes: Mapping[str, Sizes], side_read: str) -> None:
    assert kind.closes is not None
    there = [place for place, kinds in kind.closes.items() if not sizes.keys().isdisjoint(kinds)]
    if len(kind.closes) > 1:  # places are sides, and a model reads one of them
        there = [place for place in there if place == side_read]
    if edit.place not in there:
        text = f"words are read in {there[0]}" if there else "the model has none that reads words"
        raise EditError(f"{edit}: there is no {edit.place!r} here; {text}.")
    others = sorted(sizes.keys() - {"encoder_self", "decoder_self", "cross"})
    if others:
        raise EditError(
            f"{edit}: whether {others[0]} of this model reads the word too is not known, so it "
            "cannot be hidden."
        )


def _nothing(kind: EditKind) -> str:
    if kind.of == "side":
        return "nothing was seen that adds positions in this model"
    return "no attention was seen in this model"


def _check_numbers(edit: Edit, kind: EditKind, sizes: Sizes) -> None:
    limits = {
        **{"layer": sizes.n_layers, "head": sizes.n_heads},
        **{"query": sizes.n_queries, "key": sizes.n_keys},
    }
    names = NUMBERS[kind.of]
    numbers = [(name, n, limits[name]) for name, n in zip(names, edit.numbers, strict=True)]
    further = edit.values[len(kind.values) :]
    if kind.further is not None and kind.further.is_token:
        numbers += [("key", int(word), sizes.n_keys) for word in further]
    elif kind.further is not None:  # a number for each
        numbers.append(("key", len(further) - 1, sizes.n_keys))
    for name, number, limit in numbers:
        if limit is not None and number >= limit:
            raise EditError(
                f"{edit}: there is no {name} {number} here; {edit.place} has {limit}, "
                f"counted from 0."
            )
    if kind.same_sequence and not sizes.is_same_sequence:
        raise EditError(f"{edit}: queries and keys of {edit.place} are not the same words.")


# The words that a model is given to read, where edits are of the words themselves.


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
        n_words = len(ids)
        side = side_read(checkpoint)
        if edit.place != side:
            raise EditError(f"{edit}: the words that this model reads are its {side}.")
        for word in edit.values:
            if word >= n_words:
                raise EditError(
                    f"{edit}: there is no token {int(word)} here; the {side} has {n_words}, "
                    "counted from 0."
                )
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
