"""The top of every page: sentence, checkpoint and decoding, and which request is shown."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import CheckpointError, InputError
from transformer.decoding import decoding_methods, default_method
from viz.labels import literal
from viz.ui.controls import choose_one, choose_options, chosen_options
from viz.ui.languages import choose_languages, chosen_languages, has_languages
from viz.ui.live_preview import take_preview
from viz.ui.opened import checkpoint_names, shipped_names, title
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
from viz.ui.state import bound, change, session, widget

WIDTHS = (6, 3.4)
"""Of the two columns at the top: what is read, and what is chosen."""


def header(needs_answer: bool = True) -> Request:
    """Draw the controls that all pages share, settle what is shown, and return what is asked.

    needs_answer: whether the page shows what a model made of a text; not where files are read.
    A text that the model cannot take leaves the last result on screen, under a sentence that says
    what to change. Stops the script where there is nothing to show at all.
    """
    names = checkpoint_names()
    if not names:
        st.error(f"No checkpoint in {checkpoints_folder()}: train one with `make train`.")
        st.stop()
    said = session().screen.checkpoint
    checkpoint = said if said in names else names[0]
    sentence, pickers = st.columns(WIDTHS, vertical_alignment="bottom")
    with pickers, _row():
        st.selectbox(
            "Checkpoint",
            names,
            index=names.index(checkpoint),
            format_func=title,
            help=_lines(),
            **widget("checkpoint", checkpoint, turn_to),
        )
        method, options, languages = _decoding(checkpoint)
    with sentence, _row():
        text = _sentence(checkpoint)
        _offer(_examples(checkpoint))
    asked = make_request(checkpoint, text, method, options, languages)
    _settle(asked)
    if needs_answer and session().shown is None:
        st.stop()
    return asked


def turn_to(checkpoint: str) -> None:
    """Choose another checkpoint, and a text that it can read."""
    shown, text = session().shown, session().screen.text
    if shown and text is None and not _examples(checkpoint):
        text = shown.request.text
    elif shown and text in shown.checkpoint.about.examples:
        text = None  # its own example takes the place of the old one's
    is_first = checkpoint == checkpoint_names()[0]
    change(checkpoint=None if is_first else checkpoint, text=text)


def _row() -> DeltaGenerator:
    return st.container(horizontal=True, vertical_alignment="bottom", gap="small", wrap=False)


def _offer(examples: Sequence[str]) -> None:
    """A menu of texts to start with."""
    if examples:
        st.menu_button(
            "Try", list(examples), key="example", on_click=_take_example, format_func=literal
        )


def _take_example() -> None:
    if example := st.session_state["example"]:
        change(text=example)


def _lines() -> str:
    """What each shipped checkpoint is for, a line each, in Markdown."""
    names = shipped_names()
    titles = {name: known.about.title if (known := about(name)) else "damaged" for name in names}
    lines = [f"- **{literal(name)}**: {literal(titles[name])}" for name in names]
    return "\n".join([*lines, "", "The sidebar opens others."])


def _decoding(checkpoint: str) -> tuple[str, tuple[tuple[str, float], ...], Languages]:
    """The method, its options and the languages; nothing to choose where nothing is written."""
    known, screen = about(checkpoint), session().screen
    if known is None or not known.family.decodes:
        return "none", (), NEITHER
    methods = {name: m for name, m in decoding_methods().items() if not m.needs_target}
    titles = {name: each.title for name, each in methods.items()}
    usual = default_method(known.family.reads)
    chosen = choose_one("Decoding", "decoding", titles, screen.decoding, usual, True, width=150)
    method, told = methods[chosen], has_languages(known)
    if not method.options and not told:
        return chosen, (), NEITHER
    help = f"Options of {method.title}" + (", and languages" if told else "")
    options = chosen_options(method, screen)
    languages = chosen_languages(known, screen) if told else NEITHER
    box = st.popover("Options", icon=":material/tune:", help=help, key="options", on_change="rerun")
    if box.open:  # its contents are no burden while nobody looks at them
        with box:
            if told:
                choose_languages(known, languages)
            choose_options(method, options)
    return chosen, tuple(options.items()), languages


def _sentence(checkpoint: str) -> str:
    """The text input; each checkpoint starts with its own first example."""
    usual, said = _first_example(checkpoint), session().screen.text
    text = usual if said is None else said
    hint = "Type a sentence and press Enter"
    st.text_input("Sentence", text, placeholder=hint, **bound("text", text, usual))
    return text


def _first_example(checkpoint: str) -> str:
    return next(iter(_examples(checkpoint)), "")


def _examples(checkpoint: str) -> tuple[str, ...]:
    known = about(checkpoint)
    return known.about.examples if known else ()


def _settle(request: Request) -> None:
    """Make the answer to `request` the one shown; or say why not, and show the one before."""
    try:
        session().shown = _answer(request)
    except CheckpointError as error:
        said = literal(f"{error} The other checkpoints are not affected.")
        st.error(said, icon=":material/error:")
    except InputError as error:
        session().shown = shown = _fall_back(request)
        still = f" Still shown: “{shown.request.text}”." if shown else ""
        st.warning(literal(f"{error}{still}"), icon=":material/info:")


def _answer(request: Request) -> Answer:
    """Compute what is asked; a text that grows token by token is shown while it does."""
    take_preview(request)
    known = about(request.checkpoint)
    is_streamed = known and known.family.continues and decoding_methods()[request.method].streams
    if not is_streamed:
        return answer(request)
    place = st.empty()
    answered = streamed_answer(request, lambda text: place.text(f"{request.text}{text}"))
    place.empty()
    return answered


def _fall_back(request: Request) -> Answer | None:
    """What stays on screen: the last answer of this checkpoint, else its first example.

    None where the checkpoint has no example that can be read.
    """
    shown = session().shown
    if shown is not None and shown.request.checkpoint == request.checkpoint:
        return shown
    try:
        return answer(replace(request, text=_first_example(request.checkpoint), options=()))
    except InputError:
        return None
