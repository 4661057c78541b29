"""The large picture of one head: as arrows, as a heat map, or one of its cells from inside."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, replace
from itertools import product
from typing import Any

from transformer.analysis.reading import AttentionMap, Reading, lenses, read
from transformer.analysis.strongest import strongest_weight
from transformer.edits import Edit
from viz.components.cell_steps.cell_steps import CellSteps
from viz.components.head_map.head_map import HeadMap
from viz.components.head_view.head_view import HeadView
from viz.edit_words import heads_off, off_in
from viz.exhibits.exhibit import Actions, Exhibit, PictureAt
from viz.state.changing import add
from viz.state.focus import pin, pin_cell, pinned_cell, turn_by
from viz.state.page import Pane
from viz.ui.controls import choose_one
from viz.ui.reading import readable, why_not

TITLES = {"arrows": "Arrows", "map": "Heat map", "inside": "Inside", "why": "Why"}


def choose_picture(pane: Pane, left_out: Sequence[str] = ()) -> str:
    """Let a picture of the chosen head be chosen; return its name.

    The card of a word, which is opened where it is, has its place here while it is shown.
    """
    name = pane.screen.picture
    left_out = [*left_out, *["why"] * (name != "why" or not pane.recording.target)]
    titles = {name: title for name, title in TITLES.items() if name not in left_out}
    return choose_one("Picture", "picture", titles, name, label_visibility="collapsed")


def large(name: str, pane: Pane) -> Exhibit:
    """The picture of this name, in the state that the Screen says; arrows where it is the card."""
    name, reading = "arrows" if name == "why" else name, readable(pane)
    content = {"arrows": _arrows, "map": _map, "inside": _inside}[name](pane, reading)
    why = why_not(pane)
    note = f"{why} Shown: the weights." if why else ""
    return Exhibit(TITLES[name], content, note=note, pane=pane)


def _arrows(pane: Pane, reading: Reading) -> PictureAt:
    selection, screen = pane.selection, pane.screen
    n_heads = selection.attention(pane.recording).n_heads
    heads: tuple[int, ...] | None = pane.chosen("heads")
    if heads:
        heads = tuple(head for head in heads if head < n_heads) or None
    view = HeadView(selection.kind, selection.layer, reading)
    over = {
        "head": selection.head,
        "heads": heads,
        "lines": screen.lines,
        "tool": screen.tool,
        "cuts": f"cut:{selection.kind}.{selection.layer}",
        "edits": screen.edits,
        "off": off_in(selection.kind, selection.layer, pane.answer.request.edits),
        "changes": f"edits{pane.suffix}",
    }

    def change(view: dict[str, Any]) -> None:
        overlaid = None if view["heads"] == [selection.head] else tuple(view["heads"])
        pin(pane, view["pins"], lines=view["lines"], **{f"heads{pane.suffix}": overlaid})

    def cut(lines: Sequence[Sequence[int]]) -> None:
        map = read(pane.recording, selection.kind, reading)
        add(*(each for head, row, column in lines for each in _cuts(pane, map, head, row, column)))

    on: Actions = {"view": change, "turn": _turn(pane, reading), "cut": cut}
    of_text = {"pins": screen.pins}
    return PictureAt(view, over, of_text, _typed(view), on, f"arrows{pane.suffix}")


def _map(pane: Pane, reading: Reading) -> PictureAt:
    selection, screen = pane.selection, pane.screen
    map = read(pane.recording, selection.kind, reading)
    cell = pane.chosen("cell") and pinned_cell(pane)
    row, column = (map.row_of(cell[0]), map.column_of(cell[1])) if cell else (None, None)
    over = {
        "path": screen.path,
        "own_scale": screen.own_scale,
        "asks": True,
        "is_off": astuple(selection) in heads_off(pane.answer.request.edits),
    }

    def open_cell(place: Sequence[int]) -> None:
        row, column = place
        if screen.tool == "arrows":
            add(*_cuts(pane, map, selection.head, row, column))
            return
        head = (map.attention, selection.layer, selection.head)
        cell = strongest_weight(*head, map.row_groups[row], map.column_groups[column])
        inside: dict[str, Any] = {} if pane.suffix else {"picture": "inside"}
        pin_cell(pane, *cell, **inside)

    cell_at = None if row is None or column is None else (row, column)
    plain = HeadMap(selection, reading)
    on: Actions = {"cell": open_cell, "turn": _turn(pane, reading)}
    of_text = {"cell": cell_at, "pins": screen.pins}
    return PictureAt(plain, over, of_text, _typed(plain), on, f"map{pane.suffix}")


def _typed(picture: HeadMap | HeadView) -> HeadMap | HeadView | None:
    """The same for what is typed, unless the model has to run once more for each of its words."""
    return None if lenses()[picture.reading.lens].of_output else picture


def _inside(pane: Pane, reading: Reading) -> PictureAt:
    cell = CellSteps(pane.selection, pinned_cell(pane), reading.rows, reading.words)
    on = {"cell": lambda cell: pin_cell(pane, *cell), "turn": lambda n: turn_by(pane, n)}
    typed = replace(cell, cell=None)
    return PictureAt(cell, typed=typed, on=on, key=f"inside{pane.suffix}")


def _cuts(pane: Pane, map: AttentionMap, head: int, row: int, column: int) -> Iterator[Edit]:
    """Cuts of every cell that belongs to this row and column: a word may be of several pieces."""
    kind, layer = pane.selection.kind, pane.selection.layer
    is_open = map.attention.allowed(layer, head)
    for query, key in product(map.row_groups[row], map.column_groups[column]):
        if is_open[query, key]:
            yield Edit("cut", kind, (layer, head, query, key))


def _turn(pane: Pane, reading: Reading) -> Callable[[int], None]:
    """Return the callback for a swipe across the picture."""
    per_head = lenses()[reading.lens].per_head
    return lambda n: turn_by(pane, n, per_head)
