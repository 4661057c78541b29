"""Positions: how the model tells its tokens apart by place."""

import streamlit as st

from viz.labels import literal
from viz.position_words import schemes
from viz.ui.controls import choose_one
from viz.ui.page import Page, Pane
from viz.ui.panel import panel
from viz.views.listed import listed

NONE = (
    "No position scheme was found in this pass. Looked for: rows of a table, or sinusoids, that "
    "are added to the tokens before the first attention; queries and keys that turn; numbers added "
    "to the scores by distance. What is concatenated, or made by a convolution, is not found."
)


def draw(pane: Pane) -> None:
    """One of the views that apply."""
    views = listed("positions", pane.recording)
    if not views:
        st.info(NONE)
        return
    st.markdown("  \n".join(literal(each) for each in schemes(pane.recording)))
    titles = {name: view.title for name, view in views.items()}
    said = pane.screen.view
    panel(choose_one("View", "view", titles, said, label_visibility="collapsed"), pane)


PAGE = Page("positions", "Positions", "Look", 5, draw)
