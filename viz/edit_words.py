"""An edit in words, and the factor of those that make something weaker or stronger."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import groupby

from transformer import Recording
from transformer.analysis.reading import row_tokens
from transformer.edits import Edit, EditKind, edit_kinds, parse
from transformer.edits.edit import NUMBERS
from transformer.recording import Attention
from transformer.refusal import visible
from transformer.token import Token
from viz.labels import counted, in_word, kind_title, number

SINGLE = 8
"""Arrows of a row up to which each has a button of its own."""


def heads_off(edits: Iterable[str]) -> list[tuple[str, int, int]]:
    """Kind, layer and head of those that these edits switch off, in their order."""
    result = map(parse, edits)
    return [it.at_head for it in result if it.name == "head-off"]


def off_in(kind: str, layer: int, edits: Iterable[str]) -> list[int]:
    """The heads of one layer that these edits switch off."""
    return [head for *place, head in heads_off(edits) if place == [kind, layer]]


def edits_text(edits: Sequence[Edit], recording: Recording) -> str:
    """Edits that belong together as one button says them: "9 rows that write “dem” forced", "24
    arrows of “dem” cut, to “river”".

    Rows of several kinds that write a word have different names, but this in common.
    """
    if len(edits) == 1:
        return edit_text(edits[0], recording)

    def words(tokens: Callable[[Attention], tuple[Token, ...]], positions: Iterable[int]) -> str:
        attentions = [recording.attentions.get(edit.place) for edit in edits]
        sides = [() if each is None else tokens(each) for each in attentions]
        names = [f"“{_word(side, at)}”" for side, at in zip(sides, positions, strict=True)]
        return ", ".join(dict.fromkeys(names))

    queries = [edit.query for edit in edits]
    if edits[0].name != "cut":
        written = words(lambda of: of.produced or of.queries, queries)
        return f"{counted(len(edits), 'row', 'rows')} that write {written} forced"
    keys = words(lambda of: of.keys, [edit.key for edit in edits])
    return f"{len(edits)} arrows of {words(row_tokens, queries)} cut, to {keys}"


def grouped(edits: Iterable[str]) -> list[tuple[str, ...]]:
    """Edits in order; forced rows that follow each other are one group, and so are more than
    SINGLE arrows of a row that are cut.
    """
    result: list[tuple[str, ...]] = []
    for name, run in groupby(edits, _belongs_to):
        group = tuple(run)
        is_one = name[0] == "row-force" or (name[0] == "cut" and len(group) > SINGLE)
        result += [group] if is_one else [(each,) for each in group]
    return result


def _belongs_to(spelled: str) -> tuple[object, ...]:
    """Return what edits of one group have in common: of arrows the kind of attention and row."""
    edit = parse(spelled)
    return (edit.name, edit.place, edit.query) if edit.name == "cut" else (edit.name,)


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
    if kind.of == "row":  # several rows of one head are edited, each in its own way
        where += f", {_word(() if attention is None else row_tokens(attention), edit.query)}"
    factor = factor_of(edit)
    if kind.of == "cell":
        rows = () if attention is None else row_tokens(attention)
        keys = () if attention is None else attention.keys
        arrow = "↛" if factor == 0 else "→"
        where += f": {_word(rows, edit.query)} {arrow} {_word(keys, edit.key)}"
    if factor is None:
        return f"{where}: {kind.title}"
    if factor == 0:
        return where if kind.of == "cell" else f"{where} off"
    return f"{where} × {number(factor, 6, 'g')}"


def named_tokens(edit: Edit, recording: Recording) -> tuple[Token | None, ...]:
    """The tokens that an edit names by their numbers, of a row what it reads and what it writes.

    None: there is none of this number; of an edit of any text there are none to name.
    """
    kind, attention = edit_kinds()[edit.name], recording.attentions.get(edit.place)
    numbers = dict(zip(NUMBERS[kind.of], edit.numbers, strict=True))
    if "word" in numbers:
        words = recording.source_words
        return words[edit.query].tokens if edit.query < len(words) else (None,)
    keys = recording.source if attention is None else attention.keys
    named: list[tuple[tuple[Token, ...], int]] = []
    if "query" in numbers:
        rows = () if attention is None else attention.queries
        named = [(rows, edit.query)]
        if attention is not None and attention.produced is not None:
            named.append((attention.produced, edit.query))
    if "key" in numbers:
        named.append((keys, edit.key))
    values = [value for value, of in zip(edit.values, kind.values, strict=False) if of.is_token]
    further = edit.values[len(kind.values) :]
    if kind.further is not None and kind.further.is_token:
        values += further
    elif "query" in numbers:  # a number for each key
        values += range(len(further))
    named += [(keys, int(value)) for value in values]
    return tuple(side[i] if i < len(side) else None for side, i in named)


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
    words = recording.source_words
    return visible(words[number].text) if number < len(words) else str(number)


def _word(tokens: tuple[Token, ...], place: int) -> str:
    return in_word(tokens, place) if place < len(tokens) else str(place)
