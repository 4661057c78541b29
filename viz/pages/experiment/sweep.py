"""Sweep: every head off, one at a time, and what that does to each word of the output."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from transformer import Recording
from transformer.analysis.output_change import words_of
from transformer.analysis.sweep import Sweep
from transformer.edits import Edit
from transformer.refusal import Refusal
from transformer.words import word_groups
from viz.figures.sweep_grid import Row, sweep_grid
from viz.labels import kind_title, literal
from viz.screen import FIRST_PAGE, Screen, link
from viz.ui.controls import choose_one
from viz.ui.page import Pane
from viz.ui.state import current_theme
from viz.ui.swept import swept


def sweep_page(pane: Pane) -> None:
    """The grid of all heads, sorted and filtered as is chosen."""
    try:
        found = swept(pane.answer)
    except Refusal as error:
        st.info(literal(str(error)), icon=":material/info:")
        return
    words = words_of(found.target)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kinds = _choose_kinds(pane)
        sort = _choose_sort(pane, words)
    rows = _rows(found, pane, kinds, sort)
    largest = max((abs(change) for row in rows for change in row.changes), default=0.0)
    theme = current_theme()
    st.html(sweep_grid(rows, words, largest, theme))


def _choose_kinds(pane: Pane) -> Sequence[str]:
    kinds = list(pane.recording.attentions)
    if len(kinds) < 2:
        return kinds
    titles = {"all": "All"} | {kind: kind_title(kind) for kind in kinds}
    chosen = choose_one("Heads", "sweep_kind", titles, pane.screen.sweep_kind)
    return kinds if chosen == "all" else [chosen]


def _choose_sort(pane: Pane, words: Sequence[str]) -> str:
    titles = {"change": "Total change", "layer": "Layer"}
    titles |= {f"word {i}": f"Word {i + 1}: {word}" for i, word in enumerate(words)}
    said = pane.screen.sweep_sort
    return choose_one("Sorted by", "sweep_sort", titles, said, as_list=True, width=220)


def _rows(found: Sweep, pane: Pane, kinds: Sequence[str], sort: str) -> list[Row]:
    groups = word_groups(found.target)
    rows = [
        (edit, [sum(changes[i] for i in group) for group in groups])
        for edit, changes in zip(found.edits, found.changes.tolist(), strict=True)
        if edit.place in kinds
    ]
    if sort == "change":
        rows.sort(key=lambda row: sum(row[1]))
    elif sort != "layer":
        word = int(sort.removeprefix("word "))
        rows.sort(key=lambda row: row[1][word])
    before = [None, *((edit.place, edit.layer) for edit, _ in rows)]
    return [
        Row(
            _name(edit, pane.recording),
            link(_on_explore(pane.screen, edit)),
            changes,
            is_first=sort == "layer" and last is not None and last != (edit.place, edit.layer),
        )
        for (edit, changes), last in zip(rows, before, strict=False)
    ]


def _name(edit: Edit, recording: Recording) -> str:
    layer = recording.attentions[edit.place].number(edit.layer)
    return f"{kind_title(edit.place)} L{layer} H{edit.head}"


def _on_explore(screen: Screen, edit: Edit) -> Screen:
    """The head that is off, and what the model writes then."""
    screen = replace(screen, page=FIRST_PAGE, edits=(str(edit),), tool="heads")
    return replace(screen, kind=edit.place, layer=edit.layer, head=edit.head)
