"""The address of previews: a browser posts what is typed, and is answered with pictures."""

import asyncio
import json
from functools import partial

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from transformer.refusal import Refusal
from viz.run.line import relieved
from viz.run.previews import LINE, OFFER, UNASKED, WHY, LivePreview, Preview
from viz.state.live_preview import of_session, open_previews

MOST_BYTES = 2**16
"""The size of a post."""
AS_ENTERED, AGAIN = 204, 202
"""Answers without a picture: show what was entered last; ask again, unless it is no longer wanted.

All are successes: browsers report others as errors.
"""
AHEAD = "ahead"
"""In the query of what is asked for before the click that it belongs to."""
WHY_TEXT, UNASKED_TEXT, OFFER_TEXT = map(json.dumps, (WHY, UNASKED, OFFER))
PLAIN = {"Content-Type": "application/octet-stream", "Content-Encoding": "identity"}
"""Not compressed on the way: that takes longer than what it saves."""


def preview_route() -> Route:
    """Return the route of previews: a post says what differs, and gets bytes for each picture;
    a query is that of a link, and gets the part of the page that it changes.
    """
    return Route(open_previews(), _answer, methods=["POST", "GET"])


async def _part(request: Request) -> Response:
    """The part of the session's page, as HTML, that a link leads to."""
    live = of_session(request.path_params["ticket"])
    if live is None or live.there is None:
        return Response(status_code=AS_ENTERED)
    try:
        part = await asyncio.to_thread(live.there, request.url.query)
    except Refusal:  # once it is gone to, the page says why
        part = None
    return Response(status_code=AS_ENTERED) if part is None else HTMLResponse(part)


async def _answer(request: Request) -> Response:
    """One session's newest request, in its turn."""
    if request.method == "GET":
        return await _part(request)
    live, changes = of_session(request.path_params["ticket"]), await _changes(request)
    if live is None or changes is None:
        return Response(status_code=AS_ENTERED)
    if live.is_drawing:
        return Response(status_code=AGAIN)
    if changes == OFFER_TEXT:
        return await _offered(live)
    if "text" in json.loads(changes):
        live.seek_no_more()
    if live.ready is None or (AHEAD in request.query_params and LINE.n_waiting):
        return Response(status_code=AS_ENTERED)  # a guess gives way to what somebody waits for
    over, loop = asyncio.Event(), asyncio.get_running_loop()
    if changes == UNASKED_TEXT and LINE.n_free < 2:
        return Response(status_code=AGAIN)  # whoever types finds a place
    study = Preview(live.ready, changes)
    newest = live.newest_cards if changes in (WHY_TEXT, UNASKED_TEXT) else live.newest
    follower = newest.follow(study, partial(loop.call_soon_threadsafe, over.set))
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


async def _offered(live: LivePreview) -> Response:
    """The offer of the session's page, once it is known; a letter that is typed ends the wait."""
    offer = None if live.ready is None else live.ready.offer
    if offer is None:
        return Response(status_code=AS_ENTERED)
    over, loop = asyncio.Event(), asyncio.get_running_loop()
    follower = live.seek(offer.study, partial(loop.call_soon_threadsafe, over.set))
    await over.wait()
    work = follower.work
    if follower.is_stopped or work.was_left:
        return Response(status_code=AGAIN)
    if work.error is not None:
        relieved(work.error)
    data = offer.data(work.latest) if work.is_whole else None
    if data is None:
        return Response(status_code=AS_ENTERED)
    return Response(data, headers=PLAIN)


async def _changes(request: Request) -> str | None:
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
