"""An edit in words, and the factor that those have which make something weaker or stronger."""

from collections.abc import Iterable
from dataclasses import replace

from transformer import Recording
from transformer.edits import Edit, edit_kinds, parse
from transformer.tokenizer import Token
from viz.labels import bare_label, kind_title

MOST = {"head-scale": 2.0, "head-off": 2.0, "arrow-scale": 4.0, "cut": 4.0}
"""The largest factor that a slider offers."""
_NONE = {"head-scale": "head-off", "arrow-scale": "cut"}
"""What a factor of 0 is called."""
_SOME = {none: some for some, none in _NONE.items()}


def heads_off(edits: Iterable[str]) -> list[tuple[str, int, int]]:
    """Kind, layer and head of those that these edits switch off, in their order."""
    result = map(parse, edits)
    return [(it.place, it.layer, it.head) for it in result if it.name == "head-off"]


def off_in(kind: str, layer: int, edits: Iterable[str]) -> list[int]:
    """The heads of one layer that these edits switch off."""
    return [head for *place, head in heads_off(edits) if place == [kind, layer]]


def edit_text(edit: Edit, recording: Recording) -> str:
    """An edit as a button says it: "Cross L2 H3 off", "L2 H3: er ↛ it".

    The number of a layer is the one that the model itself gives it.
    """
    kind, attention = edit_kinds()[edit.name], recording.attentions.get(edit.place)
    if not edit.numbers:
        values = ", ".join(f"{value:g}" for value in edit.values)
        return f"{kind.title}, {edit.place}" + (f": {values}" if values else "")
    layer = edit.layer if attention is None else attention.number(edit.layer)
    if kind.of == "word":
        word = _word(() if attention is None else attention.queries, edit.query)
        return f"{kind_title(edit.place)} L{layer}, {word}: {kind.title}"
    where = f"{kind_title(edit.place)} L{layer} H{edit.head}"
    factor = factor_of(edit)
    if kind.of == "cell":
        rows = () if attention is None else attention.produced or attention.queries
        keys = () if attention is None else attention.keys
        arrow = "↛" if factor is not None and factor[0] == 0 else "→"
        where += f": {_word(rows, edit.query)} {arrow} {_word(keys, edit.key)}"
    if factor is None:
        return f"{where}: {kind.title}"
    if factor[0] == 0:
        return where if kind.of == "cell" else f"{where} off"
    return f"{where} × {factor[0]:g}"


def factor_of(edit: Edit) -> tuple[float, float] | None:
    """By what an edit multiplies, and the most that is offered; None: it does something else."""
    if edit.name not in MOST:
        return None
    return (edit.values[0] if edit.values else 0.0), MOST[edit.name]


def with_factor(edit: Edit, factor: float) -> Edit | None:
    """The edit with another factor; None: with 1 it changes nothing."""
    if factor == 1:
        return None
    if factor == 0:
        return replace(edit, name=_NONE.get(edit.name, edit.name), values=())
    return replace(edit, name=_SOME.get(edit.name, edit.name), values=(factor,))


def _word(tokens: tuple[Token, ...], place: int) -> str:
    return bare_label(tokens[place]) if place < len(tokens) else str(place)
