"""The sidebar: open a checkpoint of one's own, by its path or its name."""

import streamlit as st

from transformer import CheckpointError
from viz.labels import literal
from viz.ui.opened import keep_opened
from viz.ui.opening import OFF, can_open, find

EXPLAIN = (
    "A folder that this app trained, one in Hugging Face's format or its name on the hub, a file "
    "of weights of well-known code, or a folder of such folders."
)
_TRIED, _PROBLEM = "open_tried", "open_problem"


def sidebar() -> str | None:
    """Draw it. The name of the checkpoint that was opened just now; None where none was."""
    with st.sidebar:
        if not can_open():
            st.caption(OFF)
            return None
        text = st.text_input(
            "Open a checkpoint",
            key="open_text",
            placeholder="path, or organisation/model",
            help=EXPLAIN,
        )
        opened = None
        if text and text != st.session_state.get(_TRIED):
            opened = _open(text)
        if text and st.session_state.get(_PROBLEM):
            st.error(literal(st.session_state[_PROBLEM]), icon=":material/error:")
        return opened


def _open(text: str) -> str | None:
    st.session_state[_TRIED], st.session_state[_PROBLEM] = text, None
    try:
        with st.spinner(f"Opening {literal(text[:80])}"):
            return keep_opened(find(text))
    except CheckpointError as error:
        st.session_state[_PROBLEM] = str(error)
        return None
