"""The addresses of rooms: one opens a room, one is a socket of those in it, one leads phones there.

A window that listens is told where the talk is, at once and after each move; the presenter's, whose
browser holds the key in a cookie, says where it goes. Any other only answers what the talk asks.
"""

import asyncio
import html
import json
import time
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from viz.run.settings import SENTENCE_PAGE
from viz.screen import FIRST_PAGE, Screen, parse
from viz.talks.room_links import base, rooms_address, seen_by, windows
from viz.talks.rooms import (
    LONGEST,
    OVER,
    ROOMS,
    Listener,
    Room,
    RoomError,
    holds,
    new_key,
    points_of,
)

KEY = "headscope-talk"
"""The cookie; each room has its own, at its own path."""
MOST_BYTES = 2**16
"""The size of a message in a room."""
MOST_OF_ANSWER = 2**10
PAUSE = 0.1
"""Seconds between two news for a window without the key: many answers at once are told together."""
NO_ROOM = 4404
"""The code with which a socket closes where there is no such room."""
NO_MORE = 4429
"""The same where nobody else may enter."""
GONE = (
    "This talk is not here: it is over, or the link is not whole. "
    "Ask whoever gives it for the link again."
)


def room_routes() -> list[BaseRoute]:
    """Return the routes of rooms, beside Streamlit's own."""
    place = rooms_address()
    return [
        Route(place, _open, methods=["POST"]),
        Route(f"{place}/{{code}}", _lead, methods=["GET"]),
        WebSocketRoute(f"{place}/{{code}}/news", _talk),
    ]


def screen_of(address: str) -> Screen:
    """Return the screen of an address, relative to any page of the app. Raises ValueError."""
    parts = urlsplit(address)
    page = unquote(parts.path.rpartition("/")[2]) or FIRST_PAGE
    return parse({**dict(parse_qsl(parts.query, keep_blank_values=True)), "page": page})


async def _open(request: Request) -> Response:
    """A room for the talk of the address that is posted; its key goes into a cookie."""
    text = await _posted(request)
    if text is None or not _is_own_page(request):
        return Response(status_code=400)
    try:
        key, screen = new_key(), screen_of(text)
    except ValueError:
        return Response(status_code=400)
    try:
        room = ROOMS.open(_who(request), key)
    except RoomError as error:
        return JSONResponse({"why": str(error)}, 503)
    ROOMS.move(room, screen)
    answer = JSONResponse(windows(screen, room.code))
    answer.set_cookie(
        KEY,
        key,
        max_age=int(LONGEST),
        path=f"{rooms_address()}/{room.code}",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )
    return answer


async def _lead(request: Request) -> Response:
    """Whoever has the short link sees what the talk is at."""
    room = ROOMS.get(request.path_params["code"])
    if room is None or room.screen is None:
        return HTMLResponse(SENTENCE_PAGE.format(said=html.escape(GONE)), 404)
    there = seen_by(room.screen, "audience", room.code).removeprefix(".")
    return RedirectResponse(f"{base()}{there}", 303, {"cache-control": "no-store"})


async def _talk(socket: WebSocket) -> None:
    """Tell a window where the talk is, as long as it listens; hear where its presenter goes."""
    code, key = socket.path_params["code"], socket.cookies.get(KEY, "")
    await socket.accept()
    if not _is_own_page(socket):
        await socket.close(NO_ROOM)
        return
    is_presenters, room = holds(key, code), ROOMS.get(code)
    try:
        if room is None and is_presenters:  # the server has begun anew since
            room = ROOMS.open(_who(socket), key)
        if room is None:
            await socket.close(NO_ROOM)
            return
        asks = socket.query_params
        listener = room.enter(is_presenters, asks.get("who", ""), asks.get("role") == "audience")
    except RoomError:
        await socket.close(NO_MORE)
        return
    telling = asyncio.create_task(_tell(socket, room, listener))
    try:
        await _hear(socket, room, listener)
    finally:
        room.leave(listener)
        telling.cancel()


async def _tell(socket: WebSocket, room: Room, listener: Listener) -> None:
    """Send where the talk is, whenever that has changed: the newest only."""
    while not room.is_over:
        await listener.woken.wait()
        listener.woken.clear()
        if not room.is_over:
            await _send(socket, room, listener)
        if not listener.holds:
            await asyncio.sleep(PAUSE)
    await socket.close(NO_ROOM)


async def _send(socket: WebSocket, room: Room, listener: Listener) -> None:
    role = socket.query_params.get("role")
    to = room.screen and seen_by(room.screen, role, room.code)
    news: dict[str, Any] = {"n": room.n, "to": to, "over": room.over, "holds": listener.holds}
    news["tally"] = room.news_for(listener)
    if listener.holds:
        news |= {"done": listener.done, "following": room.n_following}
    await socket.send_text(json.dumps(news))


async def _hear(socket: WebSocket, room: Room, listener: Listener) -> None:
    """Until the window leaves, or says what it may not."""
    while True:
        try:
            text = await socket.receive_text()
        except (WebSocketDisconnect, RuntimeError, KeyError):  # it left, or it sent bytes
            return
        if answer := _answer(text):
            if not listener.may_answer(time.monotonic()):
                break
            room.answer(listener, *answer)
        elif listener.holds and (move := _move(text)):
            listener.done, screen, over = move
            ROOMS.move(room, screen, over)
        else:
            break
    await socket.close(1008)


def _answer(text: str) -> tuple[str, tuple[int, ...]] | None:
    """Read a question's name and its points; None where it is another message."""
    try:
        message: Any = json.loads(text) if len(text) <= MOST_OF_ANSWER else None
        of, points = message["of"], points_of(message["points"])
        return (of, points) if isinstance(of, str) and points is not None else None
    except (ValueError, RecursionError, TypeError, KeyError):
        return None


def _move(text: str) -> tuple[int, Screen, str] | None:
    """The window's number of it, screen, and what hides that; None where something else is said."""
    try:
        message: Any = json.loads(text) if len(text) <= MOST_BYTES else None
        n, to, over = message["id"], message["to"], message["over"]
        is_move = type(n) is int and isinstance(to, str) and over in OVER
        return (n, screen_of(to), over) if is_move else None
    except (ValueError, RecursionError, TypeError, KeyError):
        return None


async def _posted(request: Request) -> str | None:
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > MOST_BYTES:
            return None
    return content.decode("utf-8", "replace")


def _is_own_page(request: HTTPConnection) -> bool:
    """Tell whether a page of ours asks, and none of another server."""
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")


def _who(request: HTTPConnection) -> str:
    return request.client.host if request.client else ""
