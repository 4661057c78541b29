"""Numbers: how many of everything the model has."""

import streamlit as st

from viz.state.page import Page, Pane


def draw(pane: Pane) -> None:
    """One sentence."""
    kinds = pane.recording.attentions
    st.write(f"{len(kinds)} kinds of attention in {pane.checkpoint.name}")


PAGE = Page("numbers", "Numbers", "Learn", 99, draw)
