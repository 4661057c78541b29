"""The top of every page: sentence, checkpoint and decoding, and which request is shown."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from transformer import CheckpointError, InputError
from transformer.decoding import decoding_methods, default_method
from transformer.device import DeviceError
from transformer.edits import EditError
from transformer.files.foreign_text import clean
from transformer.hugging_face.chat.chatting import text_read
from transformer.refusal import visible
from viz.glossary import word_of
from viz.labels import literal
from viz.run.cache import raise_known
from viz.run.request import (
    Answer,
    Request,
    about,
    answer,
    as_stopped,
    fault_of,
    open_checkpoint,
    streams,
)
from viz.run.work import at_hand
from viz.screen import FIRST_PAGE
from viz.state.changing import forget_changes, say_dropped, without_edit
from viz.state.chat import (
    choose_languages,
    choose_pair,
    choose_system,
    choose_template,
    choose_turns,
    has_languages,
    show_turns,
    templates,
)
from viz.state.checkpoints import checkpoint_names, load, title
from viz.state.limits import charge, check_text
from viz.state.live_preview import take_preview
from viz.state.page import Page
from viz.state.requests import (
    examples,
    first_example,
    method_of,
    methods,
    request_of_page,
    text_of,
)
from viz.state.state import bound, change, fail, note, session, warn, widget
from viz.talks.stage import on_stage
from viz.ui.controls import choose_one, choose_options, explained
from viz.ui.first_visit import more_button
from viz.ui.hand_over import own_sentence
from viz.ui.notes import say_notes, say_of_answer
from viz.ui.progress import whole, written_answer

WIDTHS = (6, 3.8)
"""The widths of the two columns at the top: of what is read, and of what is chosen."""
TYPED, CHOSEN = "typed", "chosen"
"""The places of the sentence and of the checkpoint, which viz/components/address/header_line.js
keeps in sight."""
MOST_READ = 600
"""Characters of a text from a chat template that stand on the page; the tokens are all of it."""


def header(page: Page) -> Request:
    """Draw the controls that a page asks for, settle what is shown, and return what is asked.

    A text that the model cannot take leaves the last result on screen, under a sentence that says
    what to change. Stops the script where there is nothing to show at all.
    """
    names = checkpoint_names()
    if not names:
        fail("There is no checkpoint here yet: train one with make train.")
        st.stop()
    say_dropped()
    shows, last = page.shows, session().answer
    request, place = request_of_page(page), None
    checkpoint = request.checkpoint
    if last is not None and last.request.checkpoint not in names:
        _say_gone(last.request.checkpoint, checkpoint)
    text = text_of(checkpoint)
    if on_stage() and shows == "sentence":
        if escaped_link := own_sentence(request):
            st.html(escaped_link)
        else:
            _choose_text(checkpoint, text)
        if request.pair:  # an empty field would take the picture's room
            choose_pair(about(checkpoint), request.pair, label_visibility="collapsed")
        place = st.empty()
    elif shows == "sentence":
        if request.chat is not None:
            show_turns(request.chat)
        sentence, pickers = st.columns(WIDTHS)
        with sentence:
            with _row(TYPED):
                _choose_text(checkpoint, text)
                if names_of_templates := templates(about(checkpoint), request.chat):
                    choose_template(names_of_templates, request.chat)
                _offer(examples(checkpoint))
                if page.name == FIRST_PAGE:
                    more_button(session().screen)
            choose_pair(about(checkpoint), request.pair)
            place = st.empty()
        with pickers, _row(CHOSEN):
            _choose_checkpoint(names, checkpoint)
            _choose_decoding(request)
    elif shows == "checkpoint" and not on_stage():
        with st.container(key=CHOSEN):
            _choose_checkpoint(names, checkpoint, width=320)
    if shows != "nothing" and not on_stage():
        say_notes(checkpoint)
    if shows != "nothing":
        with st.container(key="settled"):  # whatever is said, the page below keeps its place
            _settle(request, place)
    if shows == "sentence" and session().answer is None:
        st.stop()
    return request


def _say_gone(gone: str, checkpoint: str) -> None:
    """Say that a checkpoint was there and is not, and which one takes its place."""
    sentence = f"{Path(gone).name} is not here any more: {title(checkpoint)} is shown in its place."
    warn(sentence)


def turn_to(checkpoint: str) -> None:
    """Choose another checkpoint, and a text that it can read."""
    last, text = session().answer, session().screen.text
    if last and text is None and not examples(checkpoint):
        text = last.request.text
    elif last and text in last.checkpoint.about.examples:
        text = None  # its own example takes the place of the old one's
    forget_changes()
    is_first = checkpoint == checkpoint_names()[0]
    change(checkpoint=None if is_first else checkpoint, text=text)


def _row(key: str) -> DeltaGenerator:
    look: Any = {"vertical_alignment": "center", "gap": "small", "wrap": False}
    return st.container(horizontal=True, key=key, **look)


def _choose_checkpoint(names: Sequence[str], checkpoint: str, **look: Any) -> None:
    st.selectbox(
        "Checkpoint",
        names,
        index=names.index(checkpoint),
        format_func=_name_in_list,
        label_visibility="collapsed",
        **look,
        **widget("checkpoint", checkpoint, turn_to),
    )


def _name_in_list(name: str) -> str:
    """A checkpoint in the list of them all; of one that cannot be opened, why."""
    description, fault = about(name), fault_of(name)
    if fault is not None:
        return visible(f"{title(name)} · {clean(fault, 130)}")
    parts = (title(name), description.about.title if description else "")
    return visible(" · ".join(filter(None, parts)))


def _offer(examples: Sequence[str]) -> None:
    """A menu of texts to start with."""
    if examples:
        st.menu_button(
            "Try", list(examples), key="example", on_click=_take_example, format_func=literal
        )


def _take_example() -> None:
    if example := st.session_state["example"]:
        change(text=example)


def _choose_decoding(request: Request) -> None:
    description, name = about(request.checkpoint), request.method
    if description is None or not description.family.decodes:
        return
    usual, look = default_method(description.family.reads), {"label_visibility": "collapsed"}
    choose_one("Decoding", "decoding", methods(), name, usual, True, width=150, **look)
    method, many = method_of(request), has_languages(description)
    help = f"{method.title}: how it works, and its options" + (", and languages" if many else "")
    box = st.popover("Options", icon=":material/tune:", help=help, key="options", on_change="rerun")
    if box.open:  # its contents are no burden while nobody looks at them
        with box:
            options = dict(request.options)
            st.markdown(explained(word_of(method.with_options(options))))
            if many:
                choose_languages(description, request.languages)
            if request.chat is not None:
                choose_system(request.chat)
                choose_turns(request)
            choose_options(method, options)


def _choose_text(checkpoint: str, text: str) -> None:
    look: Any = {"placeholder": "Type a sentence", "label_visibility": "collapsed"}
    st.text_input("Sentence", text, **look, **bound("text", text, first_example(checkpoint)))


def _settle(request: Request, place: DeltaGenerator | None) -> None:
    """Make the answer to `request` the one shown; or say why not, and show the one before.

    place: where a page that is about what is written says who comes first; else a token does.
    """
    before = session().answer
    is_same = before is not None and before.request.checkpoint == request.checkpoint
    try:
        session().answer = _answer(request, place) or before
        say_of_answer(request, session().answer)
        if before is not None and is_same and before.request.version != request.version:
            name = title(request.checkpoint)
            note(f"{name} was saved anew since it was shown: this is the new one.")
    except CheckpointError as error:
        still = " What it showed before stays on the page." if is_same else ""
        if before is not None and not is_same:
            still = f" Still shown: {title(before.request.checkpoint)}."
        fail(f"{error} The other checkpoints are not affected.{still}")
    except EditError as error:
        without_edit(error, request.edits)
    except (InputError, DeviceError) as error:
        session().answer = last = _fall_back(request, place)
        is_free = last is not None and last.request == request.unconstrained != request
        still = f" Still shown: “{last.request.text}”." if last else ""
        still = " The text is shown as the model decodes it by itself." if is_free else still
        warn(f"{error}{still}")


def _answer(request: Request, place: DeltaGenerator | None) -> Answer | None:
    """Return the answer; of a text that is still being written, as much as there is.

    None where it was stopped before there is anything.
    """
    take_preview(request)
    load(request)
    turns = request.chat.texts if request.chat else ()
    check_text(request.text, request.pair, *turns)
    for each in request.edits:  # some are of a sentence, which is read by itself
        check_text(each)
    if request.chat is not None and not on_stage():
        # Show the text that the chat template makes, before the model reads it. Raises
        # InputError.
        text = visible(text_read(open_checkpoint(request), request.text))
        more = f"… ({len(text):,} characters)" if len(text) > MOST_READ else ""
        st.caption(f"Read as: {literal(text[:MOST_READ])}{more}")
    if place is None:  # any text of it will do, and a token may be too short for what is decided
        return at_hand(request) or answer(as_stopped(request.unconstrained, 1))
    if request.branch and _paid(request.of_search, place, "search") is None:
        return None
    if at_hand(request) is None:
        raise_known(request)
        charge(request)
    if streams(request) and _is_watched(request):
        return written_answer(request)
    return whole(request, place)


def _paid(request: Request, place: DeltaGenerator, sort: str) -> Answer | None:
    """An answer beside the one that is asked for; None where it is not whole."""
    if at_hand(request) is None:
        charge(request)
    return whole(request, place, sort)


def _is_watched(request: Request) -> bool:
    """Tell whether the parts of a text are looked at: those of a search on its own page alone.

    Elsewhere they would cost pictures that say less than the text that stands there already.
    """
    is_search = decoding_methods()[request.method].places
    return not is_search or session().screen.page == "decode"


def _fall_back(request: Request, place: DeltaGenerator | None) -> Answer | None:
    """Return what stays on screen: of a text for which more is decided than can be, that text as
    the model writes it; else the last answer of this checkpoint, or its first example.

    None where the checkpoint has no example that can be read, and while the text is written.
    """
    last, plain = session().answer, request.unconstrained
    last = last if last and last.request.checkpoint == request.checkpoint else None
    if place is not None and plain != request:
        with suppress(InputError, DeviceError):
            return _paid(plain, place, "unconstrained") or last
    if last is not None:
        return last
    try:
        example = first_example(request.checkpoint)
        return answer(replace(plain, text=example, options=(), chat=None, pair=""))
    except (InputError, DeviceError):
        return None
