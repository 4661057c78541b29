"""Explore: all heads of one kind of attention, one of them large, and one of its cells."""

from typing import Any

import streamlit as st

from transformer.analysis.reading import Reading
from viz.components.head_grid.head_grid import HeadGrid, head_grid
from viz.ui.address import keep, kept
from viz.ui.current import current, current_selection, current_theme
from viz.ui.drafts import preview
from viz.ui.payloads import payload_of
from viz.ui.picture import HEATMAP, choose_path, choose_picture, picture
from viz.ui.reading import choose_reading, choose_rows, usable_reading
from viz.ui.saving import save_head
from viz.views.view import Selection

MOST_CELLS = 2**26
"""Of all heads: 144 heads of 680 tokens. Beyond, the one that is open is sent before all others."""
GRID = "grid"
"""What the grid's own choices belong to: the page, whatever it shows."""


def open_head(layer: int, head: int) -> None:
    """A click in the grid: the controls above it follow."""
    st.session_state["layer"], st.session_state["head"] = layer, head


def keep_order(show: str, sort: str, top: int) -> None:
    """What each cell of the grid shows, and in which order."""
    for name, value in {"show": show, "sort": sort, "top": str(top)}.items():
        keep(name, GRID, value)


def draw_grid(selection: Selection, reading: Reading) -> None:
    """All heads."""
    top = kept("top", GRID, "0")
    view: dict[str, Any] = {
        "selected": (selection.layer, selection.head),
        "show": kept("show", GRID, "maps"),
        "sort": kept("sort", GRID, "layer"),
        "top": int(top[:4]) if top.isdecimal() else 0,
    }
    grid = HeadGrid(selection.kind, reading)
    data = grid.data(payload_of(current(), grid), current_theme(), **view)
    head_grid(data, "grid", on_open=open_head, on_change=keep_order)
    preview(grid, **view)


def draw_large(selection: Selection, reading: Reading) -> None:
    """One head, below what is chosen for it."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        shown = choose_picture()
        choose_rows(selection.kind)
        if shown == HEATMAP:
            choose_path()
        choose_reading()
        save_head(selection)
    picture(shown, selection, reading)


selection = current_selection()
reading = usable_reading(selection.kind)
columns = st.columns([5, 6.4], gap="large")
parts = list(zip(columns, (draw_grid, draw_large), strict=True))
# What is sent first is painted first; but of a long text all heads take much longer than one layer.
is_small = selection.attention(current().recording).n_cells <= MOST_CELLS
for column, draw in parts if is_small else reversed(parts):
    with column:
        draw(selection, reading)
