"""Decode: the target step by step, with what each step considered and looked at."""

import streamlit as st

from viz.components.decode_player import decode_player
from viz.export import decoding_csv
from viz.ui.current import current, current_theme
from viz.ui.panel import download
from viz.ui.request import player_payload

STEP, KEPT = "step", "kept_step"


def keep_step(step: int) -> None:
    """The session remembers where the player stands, for this request."""
    st.session_state[KEPT] = (current().request, step)


def shown_step(n_steps: int) -> int:
    """Where the player was left, else what the link says; another sentence starts at 0."""
    named = st.query_params.get(STEP, "")
    linked = (current().request, int(named) if named.isdecimal() else 0)
    request, step = st.session_state.setdefault(KEPT, linked)
    return min(step, n_steps - 1) if request == current().request else 0


answer = current()
layer, head, mean = (st.session_state[name] for name in ("layer", "head", "mean"))
step = shown_step(len(answer.decoding.steps))
if st.query_params.get(STEP, "0") != str(step):
    st.query_params[STEP] = str(step)
decode_player(
    player_payload(answer.request, layer, None if mean else head),
    step,
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
