"""The sentence as it is being typed: its pictures go to the browser by themselves, without a rerun.

A rerun of the script costs the browser more than the pictures do, and comes with Enter only. So
each run leaves behind how its pictures are made of another text; the browser asks for that at an
address of the session's own. What is entered then is an ordinary rerun, whose pictures are there.
"""

import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from transformer import CheckpointError, InputError
from transformer.decoding import decoding_methods
from viz.components.kit.pack import pack
from viz.components.kit.picture import Picture
from viz.theme import Theme
from viz.ui.payloads import keep_payload
from viz.ui.request import Answer, Request, answer, make_answer, make_request
from viz.ui.state import current_theme

MOST_SECONDS = 1.0
"""What decoding and recording may take: a slower model waits for Enter."""
MOST_CELLS = 2**22
"""Of all heads of a kind: 144 heads of 170 tokens."""
LONGER = 150
"""Characters by which a text may be longer than twice the one that is shown: what quickness of that
one tells of this one ends somewhere."""
MOST_BYTES = 2**16
"""Of a text."""
AS_ENTERED, BUSY = 204, 202
"""Answers without a picture: show what was entered last; ask again."""
PLAIN = {"Content-Type": "application/octet-stream", "Content-Encoding": "identity"}
"""Not compressed on the way: that takes longer than what it saves."""
_STATE, _PATH = "drafts", "drafts"


@dataclass(frozen=True)
class Drawn:
    """A picture on the page, and what moves over it when its text is another."""

    picture: Picture
    theme: Theme
    state: Mapping[str, Any]

    def data(self, payload: bytes) -> bytes:
        """What the component is given."""
        return self.picture.data(payload, self.theme, **self.state)


@dataclass(frozen=True)
class Draft:
    """The pictures of a text that was typed: kept by nobody but the session, until the next."""

    answer: Answer
    payloads: Mapping[Picture, bytes]


class Drafts:
    """The pictures on a session's screen, and those of the text that was typed last."""

    def __init__(self) -> None:
        self.ticket = secrets.token_urlsafe(16)
        self.drawn: dict[str, Drawn] | None = None
        """Of the run that goes on, by the component's name; None: its pictures wait for Enter."""
        self.ready: tuple[Request, dict[str, Drawn]] | None = None
        """Of the last run that came to its end, with what it showed."""
        self.is_drawing = False
        """Whether a run goes on: who types then is ahead of the page."""
        self.last: Draft | None = None
        """What was drafted last."""

    def made(self, text: str) -> bytes | None:
        """All pictures of a text, packed as one; None: what was entered is to be shown."""
        if self.ready is None:
            return None
        like, drawn = self.ready
        request = make_request(like.checkpoint, text, like.method, like.options, like.languages)
        if request == like or len(text) > 2 * len(like.text) + LONGER:
            return None
        self.last = draft = _draft(make_answer(request), drawn.values())
        data = [each.data(draft.payloads[each.picture]) for each in drawn.values()]
        return pack({"names": list(drawn)}, *(np.frombuffer(each, np.uint8) for each in data))


def _draft(answer: Answer, drawn: Iterable[Drawn]) -> Draft:
    pictures = [each.picture for each in drawn]
    return Draft(answer, {it: it.payload(answer.recording, answer.decoding) for it in pictures})


_sessions: WeakValueDictionary[str, Drafts] = WeakValueDictionary()
_one_at_a_time = Lock()
_is_served = False


def draft_route() -> Route:
    """Where drafts are asked for: the text is posted, an array of bytes a component comes back."""
    global _is_served
    _is_served = True
    return Route(_address("{ticket}"), _answer, methods=["POST"])


@contextmanager
def drafted(follows_typing: bool, asked: Request, shown: Answer | None) -> Iterator[None]:
    """A run draws a page of this answer; at its end its pictures are the ones to make.

    follows_typing: whether the page does; asked: what the controls say.
    """
    follows = _is_served and follows_typing and shown is not None and _is_quick(shown)
    if shown is None or replace(asked, text="") != replace(shown.request, text=""):
        follows = False  # the checkpoint that is chosen cannot be opened
    drafts = _drafts()
    drafts.is_drawing, drafts.drawn = True, {} if follows else None
    try:
        yield
        drafts.ready = (shown.request, drafts.drawn) if shown and drafts.drawn is not None else None
    finally:
        drafts.is_drawing = False


def draft_address() -> str:
    """Where the drafts of the page are; empty where its pictures wait for Enter."""
    drafts = _drafts()
    return "" if drafts.drawn is None else _address(drafts.ticket)


def preview(picture: Picture, **state: Any) -> None:
    """Let a picture on the page follow what is typed. state: as its `data` takes it."""
    drawn = _drafts().drawn
    if drawn is not None:
        drawn[picture.component.name] = Drawn(picture, current_theme(), state)


def take_draft(request: Request) -> None:
    """Where this is what was typed last, its answer and payloads are everybody's from now on."""
    draft, _drafts().last = _drafts().last, None
    if draft is not None and draft.answer.request == request:
        answer(request, _made=draft.answer)
        for picture, payload in draft.payloads.items():
            keep_payload(request, picture, payload)


def _is_quick(shown: Answer) -> bool:
    """Whether a text much like the one shown is answered in a moment, and all at once."""
    method = decoding_methods().get(shown.request.method)
    if shown.seconds > MOST_SECONDS or (method and method.streams):
        return False
    return all(kind.n_cells <= MOST_CELLS for kind in shown.recording.attentions.values())


def _drafts() -> Drafts:
    if _STATE not in st.session_state:
        st.session_state[_STATE] = drafts = Drafts()
        _sessions[drafts.ticket] = drafts
    known: Drafts = st.session_state[_STATE]
    return known


def _address(ticket: str) -> str:
    base = str(st.get_option("server.baseUrlPath")).strip("/")
    return "/".join(["", *filter(None, (base, _PATH, ticket))])


async def _answer(asked: HttpRequest) -> Response:
    """One draft at a time: while many people type, each sees fewer of them."""
    drafts, text = _sessions.get(asked.path_params["ticket"]), await _text(asked)
    if drafts is None or text is None:
        return Response(status_code=AS_ENTERED)
    if drafts.is_drawing or not _one_at_a_time.acquire(blocking=False):
        return Response(status_code=BUSY)
    try:
        content = await run_in_threadpool(drafts.made, text)
    except (CheckpointError, InputError, ValueError):  # once it is entered, the frame says why
        content = None
    finally:
        _one_at_a_time.release()
    return Response(status_code=AS_ENTERED) if content is None else Response(content, headers=PLAIN)


async def _text(asked: HttpRequest) -> str | None:
    """What was typed; None where that is too much."""
    content = b""
    async for part in asked.stream():
        content += part
        if len(content) > MOST_BYTES:
            return None
    return content.decode(errors="replace")
