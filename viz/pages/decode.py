"""Decode: the translation step by step, with what each step considered and looked at."""

import streamlit as st

from viz.components.decode_player import decode_player
from viz.ui.controls import choose_heads
from viz.ui.frame import current, current_theme, default_selection
from viz.ui.request import player_payload
from viz.ui.tokens import tokens

STEP = "step"


def keep_step(step: int) -> None:
    """The URL follows the player."""
    st.query_params[STEP] = str(step)


def step_in_url(n_steps: int) -> int:
    """The step that a link names, brought into range; 0 where it names none."""
    named = st.query_params.get(STEP, "0")
    return min(int(named), n_steps - 1) if named.isdecimal() else 0


answer, palette = current(), current_theme()
tokens()
layer, head = choose_heads(answer.recording, default_selection(answer.checkpoint))
decode_player(
    player_payload(answer.request, layer, head),
    step_in_url(len(answer.decoding.steps)),
    palette,
    key="player",
    on_move=keep_step,
)
