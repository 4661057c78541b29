"""The second row of every page: the tokens, and which heads the page below is about.

The choices are drawn here, before the page runs, because Streamlit forgets a page's own widgets,
and their part of the address, when another page opens.
"""

from dataclasses import replace

import streamlit as st

from viz.components.token_rows import token_rows
from viz.ui.controls import choose_head, choose_heads
from viz.ui.current import current, current_theme, default_selection
from viz.ui.frame import WIDTHS


def spine(page: str) -> None:
    """Draw the row for the page of this title."""
    shown = current()
    tokens, choices = st.columns(WIDTHS)
    with tokens:
        token_rows(shown.recording.source, shown.recording.target, current_theme(), key="tokens")
    with choices:
        _choices(page)
        st.caption(f"{shown.seconds:.2f} s on {shown.checkpoint.device.type}")
        if not shown.decoding.is_ended:
            st.caption(f"Stopped at {len(shown.decoding.target)} tokens: the model found no end.")


def _choices(page: str) -> None:
    shown = current()
    default = default_selection(shown.checkpoint)
    if page == "Explore":
        choose_head(shown.recording, default)
    if page == "Compare":
        n_heads = default.attention(shown.recording).n_heads
        second = replace(default, head=(default.head + 1) % n_heads)
        choose_head(shown.recording, default, title="A")
        choose_head(shown.recording, second, suffix="_b", title="B")
    if page == "Decode":
        choose_heads(shown.recording, default)
