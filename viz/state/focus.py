"""One focus: the words that are pinned, the same everywhere, and addresses of heads."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from transformer.analysis.reading import Group, strongest_weight
from transformer.corpus.shipped import Place as HeadPlace
from viz.app_packages import st
from viz.choice import HEAD, REQUEST
from viz.components.kit.picture import twin
from viz.screen import FIRST_PAGE, Screen, link, put
from viz.state.page import Pane
from viz.state.state import change, mend, session

# One focus: the words that are pinned, the same in every picture and in Decode's step.
#
# The Screen names them as rows ("q5") and columns ("k3") of the attention that is shown. Where
# another kind of attention, or words instead of pieces, are shown, the same tokens stay pinned.

Pins = tuple[str, ...]
Place = tuple[str, int]
"""A token of the page's two lines: its side, "source" or "target", and its position there."""


def pinned_tokens(pane: Pane) -> list[Place]:
    """The tokens that are pinned, the last one last; all pieces of a word."""
    return [
        (side, position)
        for pin in pane.screen.pins
        for side, places in pane.sides["rows" if pin[0] == "q" else "columns"].items()
        for position, place in enumerate(places)
        if place == int(pin[1:])
    ]


def pin(pane: Pane, pins: Sequence[str], **others: Any) -> None:
    """Pin these rows and columns, and no others. A cell that was chosen is left."""
    change(**(others | _by_first_pane(pane, tuple(pins))), cell=None, cell_b=None)


def pin_token(pane: Pane, side: str, position: int, as_key: bool) -> None:
    """Pin a token of the two lines, or release it; one that is both, as a query unless as_key.

    One token is pinned once: a click on one that is pinned as a key releases it, too. Where the
    attention that is shown has it not, as an encoder has no written word, another kind is shown.
    """
    there = next((it for it in _every_kind(pane) if _pins_of(it, side, position)), None)
    if there is None:
        return
    pins = _pins_of(there, side, position)
    chosen = pins[-1] if as_key else pins[0]
    before = there.screen.pins
    without = [each for each in before if each not in pins]
    is_held = chosen in before or (not as_key and len(without) < len(before))
    pin(there, without if is_held else [*without, chosen], **_head_of(there, pane))


def _pins_of(pane: Pane, side: str, position: int) -> list[str]:
    """The row and the column that such a token has; empty: the attention that is shown has none."""
    by_axis = (pane.sides[axis].get(side, []) for axis in ("rows", "columns"))
    return [
        f"{letter}{places[position]}"
        for letter, places in zip("qk", by_axis, strict=True)
        if position < len(places) and places[position] >= 0
    ]


def _turned(pane: Pane, kind: str) -> Screen:
    """The screen that shows this kind, with the pins that it has."""
    name = None if kind == pane.default.kind else kind
    screen = replace(pane.screen, kind=name, layer=None, head=None)
    return replace(screen, pins=moved(pane, replace(pane, screen=screen)))


def _every_kind(pane: Pane) -> Iterator[Pane]:
    """The pane as it is, then with each other kind of attention; what reads and writes is first."""
    yield pane
    for kind in sorted(pane.recording.attentions, key="cross".__ne__):
        if kind != pane.selection.kind:
            yield replace(pane, screen=_turned(pane, kind))


def _head_of(after: Pane, before: Pane) -> dict[str, Any]:
    """The fields of a head that another kind has been found for; none where it is the same pane.

    Another change may have come in between, which they would undo.
    """
    return {} if after is before else {name: getattr(after.screen, name) for name in HEAD}


def pin_cell(pane: Pane, query: int, key: int, **others: Any) -> None:
    """Pin a cell, by the positions of its query and its key."""
    places = (("q", pane.map.row_of(query)), ("k", pane.map.column_of(key)))
    pins = tuple(f"{letter}{place}" for letter, place in places if place is not None)
    cells = {"cell": None, "cell_b": None, f"cell{pane.suffix}": (query, key)}
    change(**(others | cells | _by_first_pane(pane, pins)))


def pinned_cell(pane: Pane) -> tuple[int, int] | None:
    """Query and key of the cell that is open: the one that was chosen, else the strongest one of
    what is pinned; None where nothing is.
    """
    selection, cell = pane.selection, pane.chosen("cell")
    attention = selection.attention(pane.recording)
    if cell and cell[0] < len(attention.queries) and cell[1] < len(attention.keys):
        return cell
    queries = _last(pane.pinned_rows, pane.map.row_groups)
    keys = _last(pane.pinned_columns, pane.map.column_groups)
    if queries is None and keys is None:
        return None
    return strongest_weight(attention, selection.layer, selection.head, queries, keys)


def turn_to_head(pane: Pane, kind: str, layer: int | None, head: int | None) -> None:
    """Show another head; what is pinned stays so, as far as this kind has it."""
    turned = _turned(pane, kind)
    change(kind=turned.kind, layer=layer, head=head, pins=turned.pins)


def turn_by(pane: Pane, n: int, per_head: bool = True) -> None:
    """So many heads on, layer by layer, as long as there are any.

    per_head: whether the heads of a layer have pictures of their own; else it is layers.
    """
    selection, suffix = pane.selection, "" if pane.is_locked else pane.suffix
    attention = selection.attention(pane.recording)
    heads = n if per_head else n * attention.n_heads
    place = selection.layer * attention.n_heads + selection.head + heads
    if 0 <= place < attention.n_layers * attention.n_heads:
        layer, head = divmod(place, attention.n_heads)
        change(**{f"layer{suffix}": layer, f"head{suffix}": head})


def turn_to_reading(pane: Pane, **choices: Any) -> None:
    """Show words or pieces, special tokens or none; what is pinned stays so."""
    change(**choices, pins=moved(pane, replace(pane, screen=replace(pane.screen, **choices))))


def pinned_step(pane: Pane) -> int | None:
    """The step of decoding that wrote what is pinned; None where no such row is.

    Of a word of several pieces, the step that is chosen, else its first one.
    """
    queries = _last(pane.pinned_rows, pane.map.row_groups)
    if queries is None or pane.map.attention.produced is None:
        return None
    first = max(0, pane.recording.n_prompt - 1)
    steps = [query - first for query in queries if query >= first]
    return pane.screen.step if pane.screen.step in steps else next(iter(steps), None)


def pinned_target(pane: Pane) -> int | None:
    """The place in the target of the token whose row was pinned last, by its name; None: none is.

    Of a word of several pieces the first one.
    """
    places, rows = rows_of_written(pane), pane.pinned_rows
    return places.index(rows[-1]) if rows and rows[-1] in places else None


def rows_of_written(pane: Pane) -> list[int]:
    """The row of each token that is written, which a pin of it pins; -1: it has none."""
    return pane.sides["rows"].get("target", [])


def pinning(pane: Pane, row: int) -> Pane:
    """The pane as it is where nothing but this row is pinned."""
    return replace(pane, screen=replace(pane.screen, pins=(f"q{row}",)))


def pinned_read(pane: Pane) -> int | None:
    """The place in the source of the token whose column was pinned last; None: none is."""
    places, columns = pane.sides["columns"].get("source", []), pane.pinned_columns
    return places.index(columns[-1]) if columns and columns[-1] in places else None


def pin_step(pane: Pane, step: int) -> None:
    """Another step of decoding: a row that is pinned gives way to that of the step."""
    if pinned_step(pane) is None:
        change(step=step)
        return
    change(pins=row_pins(pane, step + max(0, pane.recording.n_prompt - 1)), step=step)


def row_pins(pane: Pane, query: int) -> Pins:
    """Return the pin of this query's row."""
    row = pane.map.row_of(query)
    return () if row is None else (f"q{row}",)


def _by_first_pane(pane: Pane, pins: Pins) -> dict[str, Any]:
    """Pins as the Screen names them: by the rows and columns of the first pane.

    That shows another kind of attention where more of them have a name there. Tokens that only one
    of both has are pinned there alone, and stay so with a click in the other; both give their pins
    up together.
    """
    if not pins:
        return {"pins": (), "pins_b": ()}
    if pane.beside is None:
        return {"pins": pins}
    own = replace(pane, screen=replace(pane.screen, pins=pins))
    first = max(_every_kind(pane.beside), key=lambda it: len(_names(own, it)))
    names, back = _names(own, first), _names(first, own)
    rest = (pin for pin in first.screen.pins if pin not in back)
    both = tuple(dict.fromkeys((*rest, *names.values())))  # two may have one
    alone = tuple(pin for pin in pins if pin not in names)
    return {"pins": both, "pins_b": alone} | _head_of(first, pane.beside)


@dataclass
class _Drawn:
    """The pane that a session looked at last."""

    pane: Pane | None = None


def stay_pinned(pane: Pane) -> None:
    """Begin the run again with the pins at the same words, where edits changed what is written: the
    pin of a word that is not written any more goes, as another one stands at its place.
    """
    drawn = session().of(_Drawn)
    before, drawn.pane = drawn.pane, pane
    if before is None or before.screen.pins != pane.screen.pins or not pane.screen.pins:
        return
    both = [replace(each.answer.request, edits=()) for each in (before, pane)]
    if both[0] != both[1] or before.answer.request.edits == pane.answer.request.edits:
        return
    if before.selection.kind == pane.selection.kind and before.reading == pane.reading:
        pins = moved(before, pane)
        if pins != pane.screen.pins:
            mend(replace(session().screen, pins=pins))
            st.rerun()


def moved(before: Pane, after: Pane) -> Pins:
    """The pins of the same tokens in another map, as rows or as columns as far as it can be."""
    return tuple(dict.fromkeys(_names(before, after).values()))  # two may have one


def _names(before: Pane, after: Pane) -> dict[str, str]:
    """Pin -> the same in another map, of each that has a place there."""
    stands_for = twin(before.recording, after.recording)
    names = {pin: _first(pin, before.sides, after.sides, stands_for) for pin in before.screen.pins}
    return {pin: name for pin, name in names.items() if name is not None}


def _first(
    pin: str, old: dict[str, dict[str, list[int]]], new: Any, stands_for: dict[str, list[int]]
) -> str | None:
    own, other = (("rows", "q"), ("columns", "k"))[:: 1 if pin[0] == "q" else -1]
    for side, places in old[own[0]].items():
        if int(pin[1:]) not in places:
            continue
        is_turned = own[0] == "columns" and side not in old["rows"]  # it could not be a query
        position = places.index(int(pin[1:]))
        if side in stands_for:
            position = stands_for[side][position]
        for axis, letter in (other, own) if is_turned else (own, other):
            there = new[axis].get(side, [])
            if 0 <= position < len(there) and there[position] >= 0:
                return f"{letter}{there[position]}"
    return None


def _last(places: Sequence[int], groups: Sequence[Group]) -> Group | None:
    """The positions of the last row or column that is pinned."""
    pinned = [groups[place] for place in places if place < len(groups)]
    return pinned[-1] if pinned else None


# Addresses within the app at which a head, a row of it, and its weights are shown.


def at_head(screen: Screen, place: HeadPlace) -> Screen:
    """The page of a head."""
    kind, layer, head = place
    return put(screen, page="heads", heads_of="one", kind=kind, layer=layer, head=head)


def at_question(screen: Screen, question: str) -> Screen:
    """The heads that answer a question, of the sentence that is on the Screen."""
    return put(screen, page="heads", heads_of="ask", heads_ask=question)


def on_explore(screen: Screen, place: HeadPlace) -> Screen:
    """A head on Explore, in the sentence that is on the Screen."""
    kind, layer, head = place
    return put(screen, page=FIRST_PAGE, kind=kind, layer=layer, head=head)


def in_sentence(
    screen: Screen, place: HeadPlace, text: str, row: tuple[int, int], writes: bool
) -> Screen:
    """A head on Explore in another sentence, with query and key pinned.

    writes: the model writes the words of the rows, as the survey had it do: greedily.
    """
    kind, layer, head = place
    query, key = row
    return replace(
        Screen(),
        checkpoint=screen.checkpoint,
        text=text,
        decoding="greedy" if writes else None,
        tokens="pieces",
        kind=kind,
        layer=layer,
        head=head,
        pins=(f"q{query}", f"k{key}"),
        own=screen.own,  # so that a page that is left has no choice to tell
    )


def in_weights(screen: Screen, place: HeadPlace) -> Screen:
    """The circuits of a head on Inspect."""
    kind, layer, head = place
    own = {"kind_circuit": kind, "layer_circuit": layer, "head_circuit": head}
    return put(screen, page="inspect", inspect="circuits", **own)


def over_training(screen: Screen, place: HeadPlace) -> Screen:
    """A head at the snapshots of its training."""
    kind, layer, head = place
    return put(screen, page="training", topic=None, kind=kind, layer=layer, head=head)


# The addresses of other pages over the text that is on the screen.


def over_text(screen: Screen, page: str, **choices: Any) -> Screen:
    """Another page over the same text, checkpoint and decoding."""
    of_request = {name: getattr(screen, name) for name in REQUEST}
    return Screen(page, **of_request, **choices)


def elsewhere(screen: Screen, page: str, **choices: Any) -> str:
    """The address of the same."""
    return link(over_text(screen, page, **choices))
