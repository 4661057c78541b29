"""The top of every page: sentence, checkpoint and decoding, and which request is shown."""

import streamlit as st

from transformer import CheckpointError, InputError
from transformer.checkpoint import read_config
from transformer.decoding import decoding_methods
from viz.ui.current import SHOWN
from viz.ui.request import Request, answer, checkpoint_names, make_request
from viz.ui.settings import checkpoints_folder

DEFAULT_METHOD = "beam"
"""The best translations first; greedy is one click away."""
WIDTHS = (6, 3.4)
"""Of the two columns at the top: what is read, and what is chosen."""


def frame() -> None:
    """Draw the controls that all pages share and settle which request is shown.

    A text that the model cannot take leaves the last result on screen, under a sentence that says
    what to change. Stops the script where there is nothing to show at all.
    """
    names = checkpoint_names()
    if not names:
        st.error(f"No checkpoint in {checkpoints_folder()}: train one with `make train`.")
        st.stop()
    titles = {n: m.title for n, m in decoding_methods().items() if not m.needs_target}
    sentence, pickers = st.columns(WIDTHS, vertical_alignment="bottom")
    with pickers, st.container(horizontal=True, gap="small", wrap=False):
        checkpoint = st.selectbox(
            "Checkpoint",
            names,
            key="checkpoint",
            bind="query-params",
            on_change=_open_checkpoint,
        )
        chosen = st.selectbox(
            "Decoding",
            list(titles),
            index=list(titles).index(DEFAULT_METHOD),
            format_func=lambda method: titles[method],
            key="decoding",
            bind="query-params",
            width=150,
        )
    with sentence:
        text = _sentence(checkpoint)
    _settle(make_request(checkpoint, text, chosen))


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


def _open_checkpoint() -> None:
    _start_with_example()
    _start_at_its_head()


def _start_with_example() -> None:
    """Another checkpoint speaks another language: put its own example where the old one stood."""
    examples = {example for name in checkpoint_names() for example in _examples(name)}
    own_example = _first_example(st.session_state["checkpoint"])
    if own_example and st.session_state["text"] in examples:
        st.session_state["text"] = own_example


def _start_at_its_head() -> None:
    """Another checkpoint has other heads: go to the one that it opens at."""
    try:
        about = read_config(checkpoints_folder() / st.session_state["checkpoint"])[0]
    except CheckpointError:
        return
    for name, value in zip(("kind", "layer", "head"), about.opens_at, strict=True):
        if name in st.session_state:
            st.session_state[name] = value


def _first_example(checkpoint: str) -> str:
    return next(iter(_examples(checkpoint)), "")


def _examples(checkpoint: str) -> tuple[str, ...]:
    try:
        return read_config(checkpoints_folder() / checkpoint)[0].examples
    except CheckpointError:
        return ()


def _settle(request: Request) -> None:
    """Make `request` the one shown; or say why not, and show the one before or the example."""
    try:
        answer(request)
        st.session_state[SHOWN] = request
    except CheckpointError as error:
        st.error(f"{error} The other checkpoints are not affected.", icon=":material/error:")
    except InputError as error:
        shown = _fallback(request)
        st.warning(f"{error} Still shown: “{shown.text}”.", icon=":material/info:")
    if SHOWN not in st.session_state:
        st.stop()


def _fallback(request: Request) -> Request:
    """What stays on screen: the last request of this checkpoint, else its first example."""
    shown: Request | None = st.session_state.get(SHOWN)
    if shown is None or shown.checkpoint != request.checkpoint:
        example = _first_example(request.checkpoint)
        shown = make_request(request.checkpoint, example, request.method)
        answer(shown)
        st.session_state[SHOWN] = shown
    return shown
