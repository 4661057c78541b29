"""Previews of what is not entered yet: the browser gets their pictures without a rerun.

A rerun of the script costs the browser more than the pictures do. So each run leaves behind which
pictures it drew; the browser posts what differs from the entered request to an address of the
session's own, and is answered with the data of every picture. What is entered then is an ordinary
rerun, which takes over what the preview made.
"""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from viz.components.kit.picture import Picture
from viz.run.cpu_instead import relieved
from viz.run.hosts import base_path
from viz.run.payloads import keep_payload
from viz.run.preview_work import is_small
from viz.run.previews import LINE, Derive, Drawn, LivePreview, Preview, Ready
from viz.run.request import Answer, Request, keep_answer
from viz.state.state import current_theme, session

MOST_BYTES = 2**16
"""The size of a post."""
AS_ENTERED, AGAIN = 204, 202
"""Answers without a picture: show what was entered last; ask again, unless it is no longer wanted.

All are successes: browsers report others as errors.
"""
AHEAD = "ahead"
"""In the query of what is asked for before the click that it belongs to."""
PLAIN = {"Content-Type": "application/octet-stream", "Content-Encoding": "identity"}
"""Not compressed on the way: that takes longer than what it saves."""
_PATH = "preview"

_sessions: WeakValueDictionary[str, LivePreview] = WeakValueDictionary()
_is_served = False


def preview_route() -> Route:
    """Return the route of previews: a post says what differs, and gets bytes for each picture."""
    global _is_served
    _is_served = True
    return Route(_address("{ticket}"), _answer, methods=["POST"])


@contextmanager
def previewed(request: Request, answer: Answer | None) -> Iterator[None]:
    """A run draws a page of this answer; at its end, its pictures are the ones to make.

    request: what the controls say.
    """
    live = _live()
    follows = _is_served and answer is not None and is_small(answer, answer.request)
    if session().screen.stopped is not None:
        follows = False  # another text is written to its end
    if answer is None or replace(request, text="") != replace(answer.request, text=""):
        follows = False  # the checkpoint that is chosen cannot be opened
    live.is_drawing, live.drawn = True, [] if follows else None
    try:
        yield
        drawn = live.drawn or []
        leads = any(each.leads for each in drawn)
        live.ready = Ready(answer, drawn) if answer and leads else None
    finally:
        live.is_drawing = False


def preview_address() -> str:
    """Return the address of the page's previews; empty where its pictures wait for Enter."""
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
    """Put what this session was shown of this request into the caches, if it was previewed."""
    for made in _live().taken(request):
        for each in made.answers:
            keep_answer(each)
        for (of, picture), payload in made.payloads.items():
            keep_payload(of, picture, payload)


def _live() -> LivePreview:
    live = session().of(LivePreview)
    _sessions[live.ticket] = live
    return live


def _address(ticket: str) -> str:
    base = base_path()
    return "/".join(["", *filter(None, (base, _PATH, ticket))])


async def _answer(request: HttpRequest) -> Response:
    """One session's newest request, in its turn."""
    live, changes = _sessions.get(request.path_params["ticket"]), await _changes(request)
    if live is None or changes is None:
        return Response(status_code=AS_ENTERED)
    if live.is_drawing:
        return Response(status_code=AGAIN)
    if live.ready is None or (AHEAD in request.query_params and LINE.n_waiting):
        return Response(status_code=AS_ENTERED)  # a guess gives way to what somebody waits for
    over, loop = asyncio.Event(), asyncio.get_running_loop()
    study = Preview(live.ready, changes)
    follower = live.newest.follow(study, partial(loop.call_soon_threadsafe, over.set))
    await over.wait()
    work = follower.work
    if follower.is_stopped or work.was_left:
        return Response(status_code=AGAIN)
    if work.error is not None:  # once it is entered, the header says why
        relieved(work.error)
    if work.latest is None:
        return Response(status_code=AS_ENTERED)
    live.recent.append(work.latest)
    return Response(work.latest.data, headers=PLAIN)


async def _changes(request: HttpRequest) -> str | None:
    """Return the JSON object of a post; None where it is something else, or too much."""
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > MOST_BYTES:
            return None
    try:
        changes = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return json.dumps(changes) if isinstance(changes, dict) else None
