"""What is on screen now. For pages, which run after the frame has settled it."""

import streamlit as st

from transformer import Checkpoint
from transformer.checkpoint import About
from transformer.models.family import Family
from viz.theme import Theme, theme
from viz.ui.request import Answer
from viz.views.view import Selection

SHOWN = "shown_answer"
"""Where the frame leaves the answer that is shown."""


def current(suffix: str = "") -> Answer:
    """The answer on screen. suffix: of a second checkpoint beside it, where there is one."""
    shown: Answer = st.session_state.get(SHOWN + suffix) or st.session_state[SHOWN]
    return shown


def current_theme() -> Theme:
    """Light or dark, as the browser shows it."""
    return theme(st.context.theme.type)


def current_selection(suffix: str = "") -> Selection:
    """The head chosen at the top of the page; suffix: of a second choice beside it."""
    kind, layer, head = (st.session_state[f"{name}{suffix}"] for name in ("kind", "layer", "head"))
    return Selection(kind, layer, head)


def default_selection(checkpoint: Checkpoint) -> Selection:
    """The head that a checkpoint opens at."""
    return first_head(checkpoint.about, checkpoint.family)


def first_head(said: About, family: Family) -> Selection:
    """The head that a checkpoint names, of a kind that its family has."""
    kind, layer, head = said.opens_at
    kinds = list(family.attentions)
    return Selection(kind if kind in kinds else kinds[0], layer, head)
