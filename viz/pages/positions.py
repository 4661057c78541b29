"""Positions: how the model tells its tokens apart by place."""

import streamlit as st

from transformer.discover import discover
from viz.position_words import schemes
from viz.ui.page import Page, Pane
from viz.ui.panel import controls, draw_figure, panel
from viz.ui.state import bound
from viz.views.token_vectors import PARTS
from viz.views.view import View

TOGETHER = "token_vectors"
"""The one view whose parts say more side by side."""
PARTS_SHOWN = ("positions", "rotary", "biases")
"""What of a recording this page is about, in the order of its views."""


def draw(pane: Pane) -> None:
    """One of the views that apply."""
    views: dict[str, View] = discover("viz.views", "VIEW")
    names = [
        name
        for part in PARTS_SHOWN
        for name, view in views.items()
        if view.needs == part and view.applies_to(pane.recording)
    ]
    if not names:
        st.info("This model adds no positional encodings, as far as this pass shows.")
        return
    st.markdown("  \n".join(schemes(pane.recording)))
    name = pane.screen.view if pane.screen.view in names else names[0]
    st.segmented_control(
        "View",
        names,
        format_func=lambda name: views[name].title,
        required=True,
        **bound("view", name, names[0]),
    )
    if name != TOGETHER:
        panel(name, pane)
        return
    chosen = controls(name, pane, left_out="part")
    for column, part in zip(st.columns(len(PARTS)), PARTS, strict=True):
        with column:
            draw_figure(name, pane.recording, part=part, **chosen)
    st.caption(views[name].explain)


PAGE = Page("positions", "Positions", 4, draw)
