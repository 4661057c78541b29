"""Positions: how the model tells its tokens apart by place."""

import streamlit as st

from viz.position_words import schemes
from viz.ui.page import Page, Pane
from viz.ui.panel import panel
from viz.ui.state import bound
from viz.views.listed import listed


def draw(pane: Pane) -> None:
    """One of the views that apply."""
    views = listed("positions", pane.recording)
    if not views:
        st.info("No positional encodings were found in this model.")
        return
    st.markdown("  \n".join(schemes(pane.recording)))
    first, *_ = views
    name = pane.screen.view if pane.screen.view in views else first
    st.segmented_control(
        "View",
        list(views),
        format_func=lambda name: views[name].title,
        required=True,
        **bound("view", name, first),
    )
    panel(name, pane)


PAGE = Page("positions", "Positions", 4, draw)
