"""Explore: the tokens, all heads of one kind of attention, and one of them large."""

import streamlit as st

from viz.components.head_grid import head_grid
from viz.ui.controls import choose_head
from viz.ui.frame import current, current_theme, default_selection
from viz.ui.panel import draw_figure, head_files, metric_texts
from viz.ui.request import grid_payload
from viz.ui.tokens import tokens


def open_head(layer: int, head: int) -> None:
    """A click in the grid: the controls beside it follow."""
    st.session_state["layer"], st.session_state["head"] = layer, head


answer, palette = current(), current_theme()
recording = answer.recording

tokens()
grid, picture = st.columns([5, 6], gap="large")
with grid:
    selection = choose_head(recording, default_selection(answer.checkpoint))
    head_grid(
        grid_payload(answer.request, selection.kind),
        (selection.layer, selection.head),
        palette,
        key="grid",
        on_open=open_head,
    )
    texts = metric_texts(selection.attention(recording), selection.layer, selection.head)
    st.caption(" · ".join(f"{title} **{text}**" for title, text in texts.items()))
    with st.container(horizontal=True):
        head_files(selection)
with picture:
    draw_figure("head_heatmap", selection=selection)
