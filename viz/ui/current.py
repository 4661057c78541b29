"""What is on screen now. For pages, which run after the frame has settled it."""

import streamlit as st

from transformer import Checkpoint
from viz.theme import Theme, theme
from viz.ui.request import Answer, answer
from viz.views.view import Selection

SHOWN = "shown_request"
"""Where the frame leaves the request that is shown."""


def current() -> Answer:
    """The answer on screen."""
    return answer(st.session_state[SHOWN])


def current_theme() -> Theme:
    """Light or dark, as the browser shows it."""
    return theme(st.context.theme.type)


def current_selection(suffix: str = "") -> Selection:
    """The head chosen at the top of the page; suffix: of a second choice beside it."""
    kind, layer, head = (st.session_state[f"{name}{suffix}"] for name in ("kind", "layer", "head"))
    return Selection(kind, layer, head)


def default_selection(checkpoint: Checkpoint) -> Selection:
    """The head that a checkpoint opens at."""
    return Selection(*checkpoint.about.opens_at)
