"""The sidebar: add to a story; open a checkpoint of one's own, a saved figure or story."""

from base64 import b64decode
from contextlib import nullcontext
from dataclasses import dataclass

import streamlit as st

from transformer import CheckpointError
from transformer.files.foreign_text import clean
from transformer.formats.adapter import Unconfirmed
from transformer.refusal import Refusal
from viz.components.figure_drop.figure_drop import figure_drop
from viz.components.kit.sync import guarded
from viz.components.kit.sync import opened as n_addresses
from viz.labels import literal
from viz.paper.record import LARGEST, LONGEST, MARK
from viz.state.checkpoints import (
    OFF,
    can_open,
    find,
    is_at_home,
    keep_opened,
    largest_dropped,
    open_dropped,
)
from viz.state.page import Page
from viz.state.state import change, current_theme, fail, session
from viz.stories.reading import LARGEST as LONGEST_STORY
from viz.talks.stories import Dropped, next_place, take_story
from viz.talks.story_drafts import add_button

EXPLAIN = (
    "A folder that this app trained, one in Hugging Face's format or its name on the hub, a file "
    "of weights of well-known code or of attention weights, a LoRA adapter whose base lies beside "
    "it, or both as BASE::ADAPTER, or a folder of such folders."
)
FROM_A_LINK = (
    "The link that led here names this model. *Open* fetches it from Hugging Face's hub, if it is "
    "not on this machine yet."
)


@dataclass
class LastPath:
    """The checkpoint that was asked for last."""

    text: str = ""
    """The path as it was typed."""
    problem: str | None = None
    """The reason why it could not be opened."""
    dropped: str | None = None
    """A file that was dropped meanwhile, by its name: the run that follows turns to it."""
    unconfirmed: str | None = None
    """An adapter with the base that it names, which opens once a person agrees."""
    linked: str | None = None
    """The model of the hub that a link filled in: it opens once a person agrees."""
    n_addresses: int = 0
    """The number of addresses that were read when it did."""


def sidebar(page: Page) -> str | None:
    """Draw it, for this page. The checkpoint that was opened just now, by its name."""
    with st.sidebar:
        # On a phone, what a link fills in stands above all else of ours.
        first = st.container() if session().screen.hub and is_at_home() else None
        if page.has_pictures:
            add_button("add to story aside", None if page.shows == "sentence" else page.title)
        figure_drop(
            current_theme(),
            MARK,
            longest=LONGEST,
            largest=LARGEST,
            longest_story=LONGEST_STORY,
            largest_arrays=largest_dropped(),
            goes=next_place(),
            on_refused=_refuse,
            on_arrays=_take_arrays,
            on_story=take_story,
        )
        dropped, session().of(LastPath).dropped = session().of(LastPath).dropped, None
        if not can_open():
            st.caption(OFF)
            return None
        with first or nullcontext():
            opened = _field()
        return dropped or opened


def _field() -> str | None:
    """Draw the field for a path or a name. The checkpoint that was opened just now, by its name."""
    _fill_in()
    text = st.text_input(
        "Open a checkpoint",
        key="open_text",
        placeholder="path, or organisation/model",
        help=EXPLAIN,
        on_change=guarded(_leave_link),
    )
    opened = None
    if text and text == session().of(LastPath).linked:
        opened = _open_linked(text)
    elif text and text != session().of(LastPath).text:
        opened = _open(text, text)
    place = st.container()
    if text == session().of(LastPath).text:
        opened = opened or _confirmed()
    last = session().of(LastPath)
    if text == last.text and last.problem:
        with place:
            fail(last.problem)
    return opened


def _refuse(text: object) -> None:
    session().of(Dropped).refused = clean(text, 300)


def _take_arrays(value: object) -> None:
    """Open attention weights that the browser has read: {"name": of the file, "data": base64}."""
    if not isinstance(value, dict):
        return
    name, data = str(value.get("name", "")), str(value.get("data", ""))
    try:
        session().of(LastPath).dropped = open_dropped(name, b64decode(data, validate=True))
    except Refusal as error:
        session().of(Dropped).refused = str(error)
    except ValueError:  # it is no base64
        _refuse(f"{name} came damaged: drop it again.")


def _fill_in() -> None:
    """Put the model that a link names into the field, once for each address that is read."""
    last, hub = session().of(LastPath), session().screen.hub
    if hub and is_at_home() and n_addresses() != last.n_addresses:
        st.set_page_config(initial_sidebar_state="expanded")
        st.session_state["open_text"] = last.linked = hub
        last.n_addresses, last.text = n_addresses(), ""


def _open_linked(name: str) -> str | None:
    """A button that opens what a link filled in, until it did. The name of what it opened."""
    place = st.empty()
    with place.container():
        st.caption(FROM_A_LINK)
        opened = _open(name, name) if st.button("Open") else None
    if opened is not None:
        place.empty()
        _leave_link()
    return opened


def _leave_link() -> None:
    """Forget what a link filled in: it is open, or something else was typed."""
    session().of(LastPath).linked = None
    change(hub=None)


def _confirmed() -> str | None:
    """A button that opens an adapter with the base that it names. The name of what it opened."""
    last = session().of(LastPath)
    if last.unconfirmed is None or not st.button("Open it with this base"):
        return None
    return _open(last.unconfirmed, last.text)


def _open(path: str, text: str) -> str | None:
    """Open a path. text: as it was typed. The name of what was opened."""
    opened = problem = unconfirmed = None
    try:
        with st.spinner(f"Opening {literal(path[:80])}"):
            opened = keep_opened(find(path))
    except CheckpointError as error:
        problem = str(error)
        unconfirmed = str(error.path) if isinstance(error, Unconfirmed) else None
    last = session().of(LastPath)
    last.text, last.problem, last.unconfirmed = text, problem, unconfirmed
    return opened
