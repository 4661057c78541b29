"""An edit in words, and the factor of those that make something weaker or stronger."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby

from transformer import Recording
from transformer.edits import Edit, EditKind, edit_kinds, parse
from transformer.token import Token
from transformer.visible import visible
from transformer.words import words_of
from viz.labels import bare_label, kind_title, number


def heads_off(edits: Iterable[str]) -> list[tuple[str, int, int]]:
    """Kind, layer and head of those that these edits switch off, in their order."""
    result = map(parse, edits)
    return [(it.place, it.layer, it.head) for it in result if it.name == "head-off"]


def off_in(kind: str, layer: int, edits: Iterable[str]) -> list[int]:
    """The heads of one layer that these edits switch off."""
    return [head for *place, head in heads_off(edits) if place == [kind, layer]]


def edits_text(edits: Sequence[Edit], recording: Recording) -> str:
    """Edits that belong together as one button says them: "9 rows of “dem” forced".

    The rows are of the words that they write.
    """
    if len(edits) == 1:
        return edit_text(edits[0], recording)
    words = []
    for place, query in dict.fromkeys((edit.place, edit.query) for edit in edits):
        attention = recording.attentions.get(place)
        rows = () if attention is None else attention.produced or attention.queries
        words.append(f"“{_word(rows, query)}”")
    return f"{len(edits)} rows of {', '.join(words)} forced"


def grouped(edits: Iterable[str]) -> list[tuple[str, ...]]:
    """Edits in order, with forced rows that follow each other in one group."""
    pairs = groupby(enumerate(edits), lambda it: -1 if it[1].startswith("row-force:") else it[0])
    return [tuple(each for _, each in group) for _, group in pairs]


def edit_text(edit: Edit, recording: Recording) -> str:
    """An edit as a button says it: "Cross L2 H3 off", "L2 H3: er ↛ it".

    The number of a layer is the one that the model itself gives it.
    """
    kind, attention = edit_kinds()[edit.name], recording.attentions.get(edit.place)
    if not edit.numbers:
        values = ", ".join(number(value, 6, "g") for value in edit.values)
        return f"{kind.title}, {edit.place}" + (f": {values}" if values else "")
    if kind.of == "read word":
        return f"{kind.title}: {_read_word(edit.numbers[0], recording)}"
    layer = edit.layer if attention is None else attention.number(edit.layer)
    if kind.of == "word":
        word = _word(() if attention is None else attention.queries, edit.query)
        return f"{kind_title(edit.place)} L{layer}, {word}: {kind.title}"
    where = f"{kind_title(edit.place)} L{layer} H{edit.head}"
    factor = factor_of(edit)
    if kind.of == "cell":
        rows = () if attention is None else attention.produced or attention.queries
        keys = () if attention is None else attention.keys
        arrow = "↛" if factor == 0 else "→"
        where += f": {_word(rows, edit.query)} {arrow} {_word(keys, edit.key)}"
    if factor is None:
        return f"{where}: {kind.title}"
    if factor == 0:
        return where if kind.of == "cell" else f"{where} off"
    return f"{where} × {number(factor, 6, 'g')}"


def scale_of(edit: Edit) -> EditKind | None:
    """The kind that has the factor of an edit; None: it does something else than to multiply."""
    kinds = edit_kinds().values()
    return next((it for it in kinds if it.zero and edit.name in (it.name, it.zero)), None)


def factor_of(edit: Edit) -> float | None:
    """Return the factor of an edit; None: it does something else."""
    if scale_of(edit) is None:
        return None
    return edit.values[0] if edit.values else 0.0


def with_factor(edit: Edit, factor: float, kind: EditKind) -> Edit | None:
    """The edit with another factor, of the kind that has it; None: with 1 it changes nothing."""
    if factor == 1:
        return None
    if factor == 0:
        return replace(edit, name=kind.zero, values=())
    return replace(edit, name=kind.name, values=(factor,))


def _read_word(number: int, recording: Recording) -> str:
    words = words_of(recording.source)
    return visible(words[number]) if number < len(words) else str(number)


def _word(tokens: tuple[Token, ...], place: int) -> str:
    return bare_label(tokens[place]) if place < len(tokens) else str(place)
