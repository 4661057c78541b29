"""Explore: all heads of all kinds of attention, one of them large, and one of its cells."""

from typing import Any

import streamlit as st

from transformer.analysis.reading import Reading, lenses
from viz.components.head_grid.head_grid import HeadGrid, head_grid
from viz.exhibits.exhibit import Exhibit, PictureAt
from viz.run.payloads import payload_of
from viz.state.changing import edited_heads, heads_off, switch_off
from viz.state.focus import pinned_tokens, turn_to_head
from viz.state.live_preview import preview
from viz.state.opened import caption_of
from viz.state.page import Page, Pane
from viz.state.state import change, current_theme
from viz.talks.stage import on_stage
from viz.ui.controls import choose_head
from viz.ui.experiment import experiment_button
from viz.ui.panel import panel
from viz.ui.picture import TITLES, choose_picture, composed, picture
from viz.ui.reading import choose_reading, readable, usable_reading
from viz.ui.saving import save_head
from viz.views.listed import listed
from viz.views.view import HeadChoice

MOST_CELLS = 2**26
"""Of all heads: 144 heads of 680 tokens. Beyond, the one that is open is sent before all others."""


def draw(pane: Pane) -> None:
    """All heads, and one of them large; below, whatever other views of attention there are."""
    reading = usable_reading(pane)
    if on_stage() and pane.screen.tool != "heads":
        picture(pane.screen.picture, pane, reading)
        return
    columns = st.columns([4.3, 7], gap="large")
    parts = list(zip(columns, (_grid, _large), strict=True))
    # What is sent first is painted first; but of a long text all heads take much longer than one
    # layer.
    n_cells = sum(each.n_cells for each in pane.recording.attentions.values())
    for column, part in parts if n_cells <= MOST_CELLS else reversed(parts):
        with column:
            part(pane, reading)
    for name, view in listed("explore", pane.recording).items():
        heads = (each.name for each in view.controls if isinstance(each, HeadChoice))
        panel(name, pane, **dict.fromkeys(heads, pane.selection))  # it is chosen above


def _grid_of(pane: Pane, reading: Reading) -> tuple[HeadGrid, dict[str, Any]]:
    """The grid, and its state as the Screen says it: on the page and as a figure."""
    selection, screen = pane.selection, pane.screen
    return HeadGrid(_readable(pane, reading), reading), {
        "selected": (selection.kind, selection.layer, selection.head),
        "show": screen.show,
        "sort": screen.sort,
        "top": screen.top,
        "own_scale": screen.own_scale,
        "speaks": False,  # the large picture does
        "tool": screen.tool,
        "off": heads_off(screen.edits),
        "edited": edited_heads(screen.edits),
        "edits": screen.edits,
    }


def _grid(pane: Pane, reading: Reading) -> None:
    grid, view = _grid_of(pane, reading)
    pinned = pinned_tokens(pane)
    data = grid.data(payload_of(pane.answer, grid), current_theme(), pinned=pinned, **view)
    head_grid(
        data,
        "grid",
        caption_of(pane.answer.request, grid.title(pane.recording)),
        on_open=lambda head: turn_to_head(pane, *head),
        on_off=lambda off: switch_off(map(tuple, off)),
        on_view=lambda view: change(show=view["show"], sort=view["sort"], top=view["top"]),
    )
    preview("grid", grid, **view)


def _figures(pane: Pane) -> dict[str, Exhibit]:
    """The large picture and the grid."""
    reading = readable(pane)
    name = pane.screen.picture
    large, state = composed(name, pane, reading)
    grid, view = _grid_of(pane, reading)
    return {
        "picture": Exhibit(TITLES[name], PictureAt(large, state)),
        "grid": Exhibit("All heads", PictureAt(grid, view), is_main=False),
    }


def _readable(pane: Pane, reading: Reading) -> tuple[str, ...]:
    """The kinds of attention that this lens can show."""
    lens = lenses()[reading.lens]
    kinds = pane.recording.attentions
    return tuple(kind for kind in kinds if lens.why_not(pane.recording, kind) is None)


def _large(pane: Pane, reading: Reading) -> None:
    """One head, below what is chosen for it: which, as what picture, and how it is read."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        choose_head(pane, as_list=True)
        experiment_button()
        shown = choose_picture(pane)
        choose_reading(pane, shown)
        save_head(pane, _figures(pane))
    selection = pane.selection
    is_off = (selection.kind, selection.layer, selection.head) in heads_off()
    if is_off and shown == "inside":  # the sentence of the others says it
        st.caption("This head is off: it is shown where it looks, but what it sees is left out.")
    picture(shown, pane, reading)


PAGE = Page("explore", "Explore", "Look", 1, draw, exhibits=_figures, edits="made")
