"""Decode: what the model wrote, step by step; or what it decided, where it writes nothing."""

import streamlit as st

from transformer import Decoding
from viz.components.decode_player import decode_player
from viz.export import decoding_csv
from viz.ui.current import current, current_theme
from viz.ui.panel import download, panel
from viz.ui.request import Request, player_payload

STEP, KEPT = "step", "kept_step"
DECISION = ("class_probabilities", "pooled_positions")
"""Views of a classifier, side by side."""


def keep_step(step: int) -> None:
    """The session remembers where the player stands, for this request."""
    st.session_state[KEPT] = (current().request, step)


def shown_step(n_steps: int) -> int:
    """Where the player was left, else what the link says; another sentence starts at 0."""
    named = st.query_params.get(STEP, "")
    linked = (current().request, int(named[:9]) if named.isdecimal() else 0)
    request, step = st.session_state.setdefault(KEPT, linked)
    return min(step, n_steps - 1) if request == current().request else 0


def steps(request: Request, decoding: Decoding) -> None:
    """The player of a decoding."""
    layer, head, mean = (st.session_state[name] for name in ("layer", "head", "mean"))
    step = shown_step(len(decoding.steps))
    if st.query_params.get(STEP, "0") != str(step):
        st.query_params[STEP] = str(step)
    decode_player(
        player_payload(request, layer, None if mean else head),
        step,
        current_theme(),
        key="player",
        on_move=keep_step,
    )
    download(
        "Steps as CSV",
        lambda: decoding_csv(decoding),
        "headscope-steps.csv",
        "Every step with its candidates and their probabilities",
    )


def decision() -> None:
    """What a classifier decided and from what."""
    st.caption("This model writes nothing: it reads the text and decides what it is.")
    for column, name in zip(st.columns(2, gap="large"), DECISION, strict=True):
        with column:
            panel(name)


answer = current()
if answer.decoding is None:
    decision()
else:
    steps(answer.request, answer.decoding)
