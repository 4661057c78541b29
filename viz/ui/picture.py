"""The large picture of one head: as arrows, as a heat map, or one of its cells from inside."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, replace
from itertools import product
from typing import Any

import streamlit as st

from transformer.analysis.reading import AttentionMap, Reading, lenses, read
from transformer.analysis.strongest import strongest_weight
from transformer.edits import Edit
from viz.components.cell_steps.cell_steps import CellSteps, cell_steps
from viz.components.head_map.head_map import HeadMap, head_map
from viz.components.head_view.head_view import HeadView, head_view
from viz.components.kit.picture import NothingLeft
from viz.edit_words import heads_off, off_in
from viz.run.payloads import payload_of
from viz.state.changing import add
from viz.state.focus import pin, pin_cell, pinned_cell, turn_by
from viz.state.live_preview import preview
from viz.state.note import note
from viz.state.opened import caption_of
from viz.state.page import Pane
from viz.state.state import current_theme, session
from viz.ui.controls import choose_one

Composed = tuple[Any, dict[str, Any]]
"""A Picture, and what its `data` takes."""
TITLES = {"arrows": "Arrows", "map": "Heat map", "inside": "Inside"}
PLAIN = (
    "This view always shows the plain weight between one query token and one key token. The "
    "settings under *Show as* do not apply."
)


def choose_picture(pane: Pane, left_out: str = "") -> str:
    """Which picture of the chosen head is drawn."""
    titles = {name: title for name, title in TITLES.items() if name != left_out}
    said = pane.screen.picture
    return choose_one("Picture", "picture", titles, said, label_visibility="collapsed")


def picture(name: str, pane: Pane, reading: Reading) -> None:
    """Draw the picture of this name, read as the reading says."""
    draw = {"arrows": _arrows, "map": _heatmap, "inside": _inside}[name]
    try:
        draw(pane, reading)
    except NothingLeft as reason:
        note(reason)


def composed(name: str, pane: Pane, reading: Reading) -> Composed:
    """The picture of this name, and its state as the Screen says it: on a page and as a figure."""
    return {"arrows": _arrows_of, "map": _map_of, "inside": _inside_of}[name](pane, reading)


def _arrows_of(pane: Pane, reading: Reading) -> Composed:
    selection, screen = pane.selection, pane.screen
    n_heads = selection.attention(pane.recording).n_heads
    heads: tuple[int, ...] | None = pane.chosen("heads")
    if heads:
        heads = tuple(head for head in heads if head < n_heads) or None
    return HeadView(selection.kind, selection.layer, reading), {
        "head": selection.head,
        "heads": heads,
        "pins": screen.pins,
        "lines": screen.lines,
        "tool": screen.tool,
        "cuts": f"cut:{selection.kind}.{selection.layer}",
        "edits": screen.edits,
        "off": off_in(selection.kind, selection.layer, pane.answer.request.edits),
        "changes": f"edits{pane.suffix}",
    }


def _map_of(pane: Pane, reading: Reading) -> Composed:
    map = read(pane.recording, pane.selection.kind, reading)
    cell = pane.chosen("cell") and pinned_cell(pane)
    row, column = (map.row_of(cell[0]), map.column_of(cell[1])) if cell else (None, None)
    return HeadMap(pane.selection, reading), {
        "cell": None if row is None or column is None else (row, column),
        "pins": pane.screen.pins,
        "path": pane.screen.path,
        "own_scale": pane.screen.own_scale,
        "asks": True,
        "is_off": astuple(pane.selection) in heads_off(pane.answer.request.edits),
    }


def _inside_of(pane: Pane, reading: Reading) -> Composed:
    return CellSteps(pane.selection, pinned_cell(pane), reading.rows), {}


def _arrows(pane: Pane, reading: Reading) -> None:
    selection = pane.selection

    def changed(view: dict[str, Any]) -> None:
        overlaid = None if view["heads"] == [selection.head] else tuple(view["heads"])
        pin(pane, view["pins"], lines=view["lines"], **{f"heads{pane.suffix}": overlaid})

    def cut(lines: Sequence[Sequence[int]]) -> None:
        map = read(pane.recording, selection.kind, reading)
        add(*(each for head, row, column in lines for each in _cuts(pane, map, head, row, column)))

    view, state = _arrows_of(pane, reading)
    key = f"arrows{pane.suffix}"
    data = view.data(payload_of(pane.answer, view), current_theme(), **state)
    caption, turned = (
        caption_of(pane.answer.request, view.title(pane.recording)),
        _turned(pane, reading),
    )
    head_view(data, key, caption, on_view=changed, on_turn=turned, on_cut=cut)
    is_of_text = ("heads", "pins")  # which words and heads are shown may fit no other text
    kept = {name: value for name, value in state.items() if name not in is_of_text}
    preview(key, view, of=pane.of, **kept)


def _heatmap(pane: Pane, reading: Reading) -> None:
    selection, answer = pane.selection, pane.answer
    map = read(answer.recording, selection.kind, reading)
    about = (answer.request, selection, reading)

    def open_cell(place: Sequence[int]) -> None:
        row, column = place
        if pane.screen.tool == "arrows":
            add(*_cuts(pane, map, selection.head, row, column))
            return
        head = (map.attention, selection.layer, selection.head)
        cell = strongest_weight(*head, map.row_groups[row], map.column_groups[column])
        inside: dict[str, Any] = {} if pane.suffix else {"picture": "inside"}
        pin_cell(pane, *cell, **inside)

    def zoom(region: Any) -> None:
        session().regions[pane.suffix] = about, tuple(region)

    asked, region = session().regions.get(pane.suffix, (None, None))
    plain, state = _map_of(pane, reading)
    large, key = replace(plain, region=region if asked == about else None), f"map{pane.suffix}"
    data = large.data(payload_of(answer, large), current_theme(), **state)
    caption, turned = (
        caption_of(answer.request, large.title(pane.recording)),
        _turned(pane, reading),
    )
    head_map(data, key, caption, on_cell=open_cell, on_region=zoom, on_turn=turned)
    is_of_text = ("cell", "pins")
    kept = {name: value for name, value in state.items() if name not in is_of_text}
    preview(key, plain, of=pane.of, **kept)


def _inside(pane: Pane, reading: Reading) -> None:
    if replace(reading, rows="produced", words=False) != Reading():
        st.caption(PLAIN)
    (cell, _), key = _inside_of(pane, reading), f"inside{pane.suffix}"
    cell_steps(
        cell.data(payload_of(pane.answer, cell), current_theme()),
        key,
        caption_of(pane.answer.request, cell.title(pane.recording)),
        on_cell=lambda cell: pin_cell(pane, *cell),
        on_turn=lambda n: turn_by(pane, n),
    )
    preview(key, CellSteps(pane.selection, None, reading.rows), of=pane.of)


def _cuts(pane: Pane, map: AttentionMap, head: int, row: int, column: int) -> Iterator[Edit]:
    """Cuts of every cell that belongs to this row and column: a word may be of several pieces."""
    kind, layer = pane.selection.kind, pane.selection.layer
    is_open = map.attention.allowed(layer, head)
    for query, key in product(map.row_groups[row], map.column_groups[column]):
        if is_open[query, key]:
            yield Edit("cut", kind, (layer, head, query, key))


def _turned(pane: Pane, reading: Reading) -> Callable[[int], None]:
    """What a swipe across the picture does."""
    per_head = lenses()[reading.lens].per_head
    return lambda n: turn_by(pane, n, per_head)
