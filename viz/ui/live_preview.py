"""What is not entered yet: its pictures go to the browser by themselves, without a rerun.

A rerun of the script costs the browser more than the pictures do. So each run leaves behind which
pictures it drew; the browser posts what differs from the entered request to an address of the
session's own, and is answered with the data of every picture. What is entered then is an ordinary
rerun, which takes over what the preview made.
"""

import asyncio
import json
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from os import cpu_count
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import streamlit as st
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from transformer import InputError
from transformer.refusal import Refusal
from viz.components.kit.pack import pack
from viz.components.kit.picture import Picture
from viz.theme import Theme
from viz.ui.payloads import keep_payload
from viz.ui.preview_work import is_small
from viz.ui.request import Answer, Request, answer, make_answer, make_request
from viz.ui.state import current_theme
from viz.ui.turns import IsWanted, Turns

WORKERS = min(4, max(2, cpu_count() or 2))
"""Previews that are made at once, for all sessions together."""
MOST_BYTES = 2**16
"""Of what is posted."""
AS_ENTERED, AGAIN = 204, 202
"""Answers without a picture: show what was entered last; ask again, unless it is no longer wanted.

All are successes: browsers report others as errors.
"""
PLAIN = {"Content-Type": "application/octet-stream", "Content-Encoding": "identity"}
"""Not compressed on the way: that takes longer than what it saves."""
_STATE, _PATH = "live_preview", "preview"


Derive = Callable[[Answer], Answer]
"""From the answer of the page to another one beside it, which follows it."""


class Replaced(Refusal):
    """Something newer was asked for."""


@dataclass(frozen=True)
class Drawn:
    """A picture on the page, and what moves over it when its request is another."""

    key: str
    picture: Picture
    theme: Theme
    state: Mapping[str, Any]
    leads: bool
    of: Derive | None

    def data(self, payload: bytes) -> bytes:
        """The component's data."""
        return self.picture.data(payload, self.theme, **self.state)


@dataclass(frozen=True)
class Preview:
    """What was made of a request that was not entered: kept by its session, until the next."""

    request: Request
    answers: Sequence[Answer]
    """Of the request, and of those beside it."""
    payloads: Mapping[tuple[Request, Picture], bytes]


@dataclass(eq=False)
class LivePreview:
    """The pictures on a session's screen, and what was previewed last."""

    ticket: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    drawn: list[Drawn] | None = None
    """Those of the run that goes on; None: they wait for Enter."""
    ready: tuple[Answer, list[Drawn]] | None = None
    """Those of the last run that came to its end, with what it showed."""
    is_drawing: bool = False
    """Whether a run goes on: who types then is ahead of the page."""
    last: Preview | None = None

    def made(self, changes: Mapping[str, Any], is_wanted: IsWanted) -> bytes | None:
        """The data of all pictures, packed as one; None: what was entered is to be shown.

        changes: the fields of the request that differ. Raises Replaced, and as `make_answer`.
        """
        if self.ready is None:
            return None
        shown, drawn = self.ready
        request = _changed(shown.request, changes)
        if request == shown.request or not is_small(shown, request):
            return None

        def on_token(_: str) -> None:
            if not is_wanted():
                raise Replaced("Something newer was asked for.")

        first = make_answer(request, on_token)
        answers = {of: of(first) if of else first for of in {each.of for each in drawn}}
        payloads = {
            (answers[it.of].request, it.picture): it.picture.payload(*answers[it.of].made)
            for it in drawn
        }
        self.last = Preview(request, list(answers.values()), payloads)
        data = [it.data(payloads[answers[it.of].request, it.picture]) for it in drawn]
        arrays = (np.frombuffer(each, np.uint8) for each in data)
        return pack({"keys": [each.key for each in drawn]}, *arrays)


_sessions: WeakValueDictionary[str, LivePreview] = WeakValueDictionary()
_turns = Turns(WORKERS)
_is_served = False


def preview_route() -> Route:
    """Where previews are asked for: what differs is posted, bytes for each picture come back."""
    global _is_served
    _is_served = True
    return Route(_address("{ticket}"), _answer, methods=["POST"])


@contextmanager
def previewed(asked: Request, shown: Answer | None) -> Iterator[None]:
    """A run draws a page of this answer; at its end, its pictures are the ones to make.

    asked: what the controls say.
    """
    live = _live()
    follows = _is_served and shown is not None and is_small(shown, shown.request)
    if shown is None or replace(asked, text="") != replace(shown.request, text=""):
        follows = False  # the checkpoint that is chosen cannot be opened
    live.is_drawing, live.drawn = True, [] if follows else None
    try:
        yield
        drawn = live.drawn or []
        leads = any(each.leads for each in drawn)
        live.ready = (shown, drawn) if shown and leads else None
    finally:
        live.is_drawing = False


def preview_address() -> str:
    """Where the previews of the page are; empty where its pictures wait for Enter."""
    live = _live()
    return "" if live.drawn is None else _address(live.ticket)


def preview(
    key: str, picture: Picture, *, leads: bool = True, of: Derive | None = None, **state: Any
) -> None:
    """Let the picture that is mounted with this key follow what is typed.

    state: as its `data` takes it, for a request whose pins, cells and steps nobody chose yet.
    leads: False for what follows only where another picture does. of: whose picture it is, where
    that is not the answer of the page; equal where it is the same one.
    """
    drawn = _live().drawn
    if drawn is not None:
        drawn.append(Drawn(key, picture, current_theme(), state, leads, of))


def take_preview(request: Request) -> None:
    """Where this was previewed last, its answer and payloads are everybody's from now on."""
    last, _live().last = _live().last, None
    if last is None or last.request != request:
        return
    for made in last.answers:
        answer(made.request, _made=made)
    for (of, picture), payload in last.payloads.items():
        keep_payload(of, picture, payload)


def _changed(request: Request, changes: Mapping[str, Any]) -> Request:
    """The request with other fields, for the weights that are on disk now. Raises InputError."""
    if set(changes) - {"text"} or not isinstance(changes.get("text", ""), str):
        raise InputError(f"A preview changes the text, not {', '.join(changes)}.")
    text = changes.get("text", request.text)
    return make_request(
        request.checkpoint, text, request.method, request.options, request.languages
    )


def _live() -> LivePreview:
    if _STATE not in st.session_state:
        st.session_state[_STATE] = live = LivePreview()
        _sessions[live.ticket] = live
    known: LivePreview = st.session_state[_STATE]
    return known


def _address(ticket: str) -> str:
    base = str(st.get_option("server.baseUrlPath")).strip("/")
    return "/".join(["", *filter(None, (base, _PATH, ticket))])


async def _answer(asked: HttpRequest) -> Response:
    """One session's newest request, in its turn."""
    live, changes = _sessions.get(asked.path_params["ticket"]), await _changes(asked)
    if live is None or changes is None:
        return Response(status_code=AS_ENTERED)
    if live.is_drawing:
        return Response(status_code=AGAIN)
    turn = _turns.ask(live.ticket, lambda is_wanted: live.made(changes, is_wanted))
    try:
        content = await asyncio.wrap_future(turn)
    except (asyncio.CancelledError, Replaced):
        if not (turn.cancelled() or turn.done()):
            raise  # the server ends
        return Response(status_code=AGAIN)
    except (Refusal, ValueError):  # once it is entered, the header says why
        content = None
    return Response(status_code=AS_ENTERED) if content is None else Response(content, headers=PLAIN)


async def _changes(asked: HttpRequest) -> dict[str, Any] | None:
    """What was posted, a JSON object; None where it is something else, or too much."""
    content = b""
    async for part in asked.stream():
        content += part
        if len(content) > MOST_BYTES:
            return None
    try:
        changes = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return changes if isinstance(changes, dict) else None
