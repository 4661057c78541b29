"""Decode: the target step by step, with what each step considered and looked at."""

import streamlit as st

from viz.components.decode_player import decode_player
from viz.export import decoding_csv
from viz.ui.current import current, current_theme
from viz.ui.panel import download
from viz.ui.request import player_payload

STEP = "step"


def keep_step(step: int) -> None:
    """The URL follows the player."""
    st.query_params[STEP] = str(step)


def step_in_url(n_steps: int) -> int:
    """The step that a link names, brought into range; 0 where it names none."""
    named = st.query_params.get(STEP, "0")
    return min(int(named), n_steps - 1) if named.isdecimal() else 0


answer = current()
layer, head, mean = (st.session_state[name] for name in ("layer", "head", "mean"))
decode_player(
    player_payload(answer.request, layer, None if mean else head),
    step_in_url(len(answer.decoding.steps)),
    current_theme(),
    key="player",
    on_move=keep_step,
)
download(
    "Steps as CSV",
    lambda: decoding_csv(answer.decoding),
    "headscope-steps.csv",
    "Every step with its candidates and their probabilities",
)
