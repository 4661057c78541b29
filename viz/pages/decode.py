"""Decode: the target step by step, with what each step considered and looked at."""

import streamlit as st

from viz.components.decode_player import decode_player
from viz.export import decoding_csv
from viz.ui.current import current, current_theme
from viz.ui.panel import download
from viz.ui.request import player_payload

STEP, KEPT = "step", "kept_step"


def keep_step(step: int) -> None:
    """The URL follows the player, and the session remembers for when the page is left."""
    st.query_params[STEP] = str(step)
    st.session_state[KEPT] = (current().request, step)


def first_step(n_steps: int) -> int:
    """The step that a link names, else the one last seen of this request, brought into range."""
    named = st.query_params.get(STEP, "")
    request, kept = st.session_state.get(KEPT, (None, 0))
    if named.isdecimal():
        return min(int(named), n_steps - 1)
    return min(kept, n_steps - 1) if request == current().request else 0


answer = current()
layer, head, mean = (st.session_state[name] for name in ("layer", "head", "mean"))
decode_player(
    player_payload(answer.request, layer, None if mean else head),
    first_step(len(answer.decoding.steps)),
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
