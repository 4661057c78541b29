"""Explore: all heads of one kind of attention, and one of them large."""

import streamlit as st

from viz.components.head_grid import head_grid
from viz.ui.current import current, current_selection, current_theme
from viz.ui.panel import draw_figure, head_files, metric_texts
from viz.ui.request import grid_payload


def open_head(layer: int, head: int) -> None:
    """A click in the grid: the controls above it follow."""
    st.session_state["layer"], st.session_state["head"] = layer, head


def keep_view(show: str, sort: str, top: int) -> None:
    """What the grid shows, as it was chosen within it."""
    st.session_state["grid_view"] = show, sort, top


answer, selection = current(), current_selection()
show, sort, top = st.session_state.get("grid_view", ("maps", "layer", 0))
grid, picture = st.columns([5, 6], gap="large")
with grid:
    head_grid(
        grid_payload(answer.request, selection.kind),
        (selection.layer, selection.head),
        current_theme(),
        key="grid",
        show=show,
        sort=sort,
        top=top,
        on_open=open_head,
        on_change=keep_view,
    )
    attention = selection.attention(answer.recording)
    texts = metric_texts(attention, selection.layer, selection.head)
    st.caption(" · ".join(f"{title} **{text}**" for title, text in texts.items()))
    with st.container(horizontal=True):
        head_files(selection)
with picture:
    draw_figure("head_heatmap", selection=selection)
