"""The frame around every page: sentence, checkpoint, decoding; and what to show below them."""

import streamlit as st

from transformer import Checkpoint, CheckpointError, InputError
from transformer.checkpoint import read_config
from viz.theme import Theme, theme
from viz.ui.request import Answer, Request, answer, checkpoint_names, make_request
from viz.ui.settings import checkpoints_folder
from viz.views.view import Selection

METHODS = {"greedy": "Greedy", "beam": "Beam search"}
_SHOWN = "shown_request"


def frame() -> None:
    """Draw the controls that all pages share and settle which request is shown.

    A text that the model cannot take leaves the last result on screen, under a sentence that says
    what to change. Stops the script where there is nothing to show at all.
    """
    names = checkpoint_names()
    if not names:
        st.error(f"No checkpoint in {checkpoints_folder()}: train one with `make train`.")
        st.stop()
    sentence, pickers = st.columns([6, 3.4], vertical_alignment="bottom")
    with pickers, st.container(horizontal=True, gap="small", wrap=False):
        checkpoint = st.selectbox(
            "Checkpoint",
            names,
            key="checkpoint",
            bind="query-params",
            on_change=_start_with_example,
        )
        chosen = st.selectbox(
            "Decoding",
            list(METHODS),
            format_func=lambda method: METHODS[method],
            key="decoding",
            bind="query-params",
            width=150,
        )
    with sentence:
        text = _sentence(checkpoint)
    _settle(make_request(checkpoint, text, chosen))


def current() -> Answer:
    """The answer on screen. For pages, which run after `frame`."""
    return answer(st.session_state[_SHOWN])


def current_theme() -> Theme:
    """Light or dark, as the browser shows it."""
    return theme(st.context.theme.type)


def default_selection(checkpoint: Checkpoint) -> Selection:
    """The head that a checkpoint opens at."""
    return Selection(*checkpoint.about.opens_at)


def _sentence(checkpoint: str) -> str:
    """The text input; each checkpoint starts with its own first example."""
    return (
        st.text_input(
            "Sentence",
            value=_first_example(checkpoint),
            key="text",
            bind="query-params",
            placeholder="Type a sentence and press Enter",
        )
        or ""
    )


def _start_with_example() -> None:
    """Another checkpoint speaks another language: put its own example where the old one stood."""
    old_examples = {example for name in checkpoint_names() for example in _examples(name)}
    if st.session_state["text"] in old_examples:
        st.session_state["text"] = _first_example(st.session_state["checkpoint"])


def _first_example(checkpoint: str) -> str:
    return next(iter(_examples(checkpoint)), "")


def _examples(checkpoint: str) -> tuple[str, ...]:
    try:
        return read_config(checkpoints_folder() / checkpoint)[0].examples
    except CheckpointError:
        return ()


def _settle(request: Request) -> None:
    """Make `request` the one shown, or say why not and keep the one before."""
    try:
        answer(request)
        st.session_state[_SHOWN] = request
    except CheckpointError as error:
        st.error(f"{error} The other checkpoints are not affected.", icon=":material/error:")
    except InputError as error:
        st.warning(str(error), icon=":material/info:")
    if _SHOWN not in st.session_state:
        st.stop()
