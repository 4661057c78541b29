"""The top of every page: sentence, checkpoint and decoding, and which request is shown."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import CheckpointError, InputError
from transformer.decoding import decoding_methods
from viz.labels import literal
from viz.ui.controls import choose_options
from viz.ui.current import SHOWN, first_head
from viz.ui.defaults import DEFAULT_METHODS
from viz.ui.drafts import take_draft
from viz.ui.languages import choose_languages, has_languages
from viz.ui.opened import (
    at_start,
    checkpoint_names,
    open_from_address,
    shipped_names,
    title,
    write_address,
)
from viz.ui.request import (
    NEITHER,
    Answer,
    Languages,
    Request,
    about,
    answer,
    make_request,
    streamed_answer,
)
from viz.ui.settings import checkpoints_folder
from viz.ui.sidebar import sidebar

WIDTHS = (6, 3.4)
"""Of the two columns at the top: what is read, and what is chosen."""


def open_checkpoint() -> None:
    """Turn to a checkpoint that the sidebar or a link asks to open."""
    _choose_opened(sidebar() or _linked())


def frame(needs_answer: bool = True) -> Request:
    """Draw the controls that all pages share, settle what is shown, and return what is asked.

    needs_answer: whether the page shows what a model made of a text; not where files are read.
    A text that the model cannot take leaves the last result on screen, under a sentence that says
    what to change. Stops the script where there is nothing to show at all.
    """
    names = checkpoint_names()
    if not names:
        st.error(f"No checkpoint in {checkpoints_folder()}: train one with `make train`.")
        st.stop()
    sentence, pickers = st.columns(WIDTHS, vertical_alignment="bottom")
    with pickers, _row():
        checkpoint = st.selectbox(
            "Checkpoint",
            names,
            key="checkpoint",
            bind="query-params",
            format_func=title,
            on_change=_open_checkpoint,
            help=_lines(),
        )
        write_address(checkpoint)
        method, options, languages = _decoding(checkpoint)
    with sentence, _row():
        text = _sentence(checkpoint)
        _offer(_examples(checkpoint))
    asked = make_request(checkpoint, text, method, options, languages)
    _settle(asked)
    if needs_answer and SHOWN not in st.session_state:
        st.stop()
    return asked


def _row() -> DeltaGenerator:
    return st.container(horizontal=True, vertical_alignment="bottom", gap="small", wrap=False)


def _offer(examples: Sequence[str]) -> None:
    """A menu of texts to start with."""
    if examples:
        st.menu_button(
            "Try", list(examples), key="example", on_click=_take_example, format_func=literal
        )


def _linked() -> str | None:
    """What a link, or the app's start, asks to open; where that fails the sentence says why."""
    problem = at_start()[1]
    try:
        opened = open_from_address()
    except CheckpointError as error:
        opened, problem = None, str(error)
    if problem:
        st.error(literal(problem), icon=":material/error:")
    return opened


def _choose_opened(name: str | None) -> None:
    """Turn to a checkpoint that was opened just now, before the picker is drawn."""
    if name is not None and ("checkpoint" in st.session_state or not _is_named(name)):
        st.session_state["checkpoint"] = name
        _open_checkpoint()


def _is_named(name: str) -> bool:
    """Whether the address names this checkpoint: then its picker takes it from there."""
    return st.query_params.get("checkpoint") == title(name)


def _lines() -> str:
    """What each shipped checkpoint is for, a line each, in Markdown."""
    names = shipped_names()
    titles = {name: known.about.title if (known := about(name)) else "damaged" for name in names}
    lines = [f"- **{literal(name)}**: {literal(titles[name])}" for name in names]
    return "\n".join([*lines, "", "The sidebar opens others."])


def _decoding(checkpoint: str) -> tuple[str, tuple[tuple[str, float], ...], Languages]:
    """The method, its options and the languages; nothing to choose where nothing is written."""
    known = about(checkpoint)
    if known is None or not known.family.decodes:
        return "none", (), NEITHER
    methods = {name: m for name, m in decoding_methods().items() if not m.needs_target}
    chosen = st.selectbox(
        "Decoding",
        list(methods),
        index=list(methods).index(DEFAULT_METHODS[known.family.reads]),
        format_func=lambda method: methods[method].title,
        key="decoding",
        bind="query-params",
        width=150,
    )
    method, told = methods[chosen], has_languages(known)
    if not method.options and not told:
        return chosen, (), NEITHER
    help = f"Options of {method.title}" + (", and languages" if told else "")
    with st.popover("Options", icon=":material/tune:", help=help, key="options"):
        languages = choose_languages(known) if told else NEITHER
        return chosen, choose_options(method), languages


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


def _take_example() -> None:
    if st.session_state["example"]:
        st.session_state["text"] = st.session_state["example"]


def _open_checkpoint() -> None:
    """Another checkpoint speaks another language, has other heads and other good methods."""
    known = about(st.session_state["checkpoint"])
    if known is None:
        return
    shown: Answer | None = st.session_state.get(SHOWN)
    examples = shown.checkpoint.about.examples if shown else ()
    fitting: dict[str, object] = dict(vars(first_head(known.about, known.family)))
    if known.about.examples and st.session_state.get("text") in examples:
        fitting["text"] = known.about.examples[0]  # in the place of the old one's
    if known.family.decodes:
        fitting["decoding"] = DEFAULT_METHODS[known.family.reads]
    for name, value in fitting.items():
        if name in st.session_state:
            st.session_state[name] = value


def _first_example(checkpoint: str) -> str:
    return next(iter(_examples(checkpoint)), "")


def _examples(checkpoint: str) -> tuple[str, ...]:
    known = about(checkpoint)
    return known.about.examples if known else ()


def _settle(request: Request) -> None:
    """Make the answer to `request` the one shown; or say why not, and show the one before."""
    try:
        st.session_state[SHOWN] = _answer(request)
    except CheckpointError as error:
        said = literal(f"{error} The other checkpoints are not affected.")
        st.error(said, icon=":material/error:")
    except InputError as error:
        _fall_back(request)
        shown: Answer | None = st.session_state.get(SHOWN)
        still = f" Still shown: “{shown.request.text}”." if shown else ""
        st.warning(literal(f"{error}{still}"), icon=":material/info:")


def _answer(request: Request) -> Answer:
    """Compute what is asked; a text that grows token by token is shown while it does."""
    take_draft(request)
    known = about(request.checkpoint)
    is_streamed = known and known.family.continues and decoding_methods()[request.method].streams
    if not is_streamed:
        return answer(request)
    place = st.empty()
    answered = streamed_answer(request, lambda text: place.text(f"{request.text}{text}"))
    place.empty()
    return answered


def _fall_back(request: Request) -> None:
    """What stays on screen: the last answer of this checkpoint, else its first example.

    Nothing where the checkpoint has no example that can be read.
    """
    shown: Answer | None = st.session_state.get(SHOWN)
    if shown is not None and shown.request.checkpoint == request.checkpoint:
        return
    example = replace(request, text=_first_example(request.checkpoint), options=())
    try:
        st.session_state[SHOWN] = answer(example)
    except InputError:
        st.session_state.pop(SHOWN, None)
