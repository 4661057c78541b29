"""The spine of every page: source and target tokens, and how the answer came about."""

import streamlit as st

from viz.components.token_rows import token_rows
from viz.ui.frame import current, current_theme


def tokens() -> None:
    """Draw the token rows of the current answer and its status line."""
    shown = current()
    rows, status = st.columns([6, 1.4])
    with rows:
        token_rows(shown.recording.source, shown.recording.target, current_theme(), key="tokens")
    device = shown.checkpoint.device.type
    status.caption(f"{shown.seconds:.2f} s · {device}", text_alignment="right")
