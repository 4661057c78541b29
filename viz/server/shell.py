"""The first answer to a browser: Streamlit's files compressed, and a picture before the app runs.

Streamlit sends its own files as they are, 3 MB, and a page that stays blank until they have come.
On a slow line that is the better part of a minute; a proxy that compresses is not always there.
"""

import asyncio
import gzip
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from viz.run.hosts import base_path
from viz.server.first_chunks import with_chunks
from viz.server.link_head import origin_of

STATIC, MEDIA = "/static/", "/media/"
COMPRESSED = ("text/", "application/javascript", "application/json", "image/svg+xml")
ROOT = b'<div id="root"></div>'
TITLE = b"<title>Streamlit</title>"
NO_WORDS = "<title>Headscope</title>"
PRELOADED = re.compile(rb"<link[^>]*as=\"font\"[^>]*>")
"""Streamlit's typeface, whole."""
AS_IT_IS = (b"accept-encoding", b"if-modified-since", b"if-none-match", b"if-range", b"range")
"""Not asked of Streamlit: its answer is to come whole and not compressed."""
ONE_BASE = (
    "<script>window.__streamlit = {...window.__streamlit, "
    'BACKEND_BASE_URL: new URL("./", document.baseURI).href}</script>'
)
"""Streamlit's page looks for the server below its own address first, and is told that there is no
such thing, twice: this says where the server is, relative to any page."""
Header = tuple[bytes, bytes]


@dataclass
class Shell:
    """An ASGI middleware around Streamlit's. Static files never change: each is compressed once."""

    app: ASGIApp
    first_picture: Callable[[], str]
    """HTML of the first screen that is seen until the app draws; empty where there is none."""
    waiting: Callable[[str], str]
    """The same without a picture, for any query."""
    head: Callable[[str, str, str | None], str] = lambda path, query, origin: NO_WORDS
    """HTML with a title, of a path below the app's, a query, and the server's own origin."""
    ahead: str = ""
    """HTML of the typefaces that come before Streamlit's."""
    later: tuple[str, ...] = ()
    """Addresses of scripts that are asked for before anything imports them."""
    files: dict[str, Message] = field(default_factory=dict)
    """The whole answer by the path of a static file."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self.app(scope, receive, send)
        elif STATIC in scope["path"] and _takes_gzip(scope):
            await self._send_static(scope, receive, send)
        elif _asks_for_page(scope):
            await self._send_page(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _send_static(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if path not in self.files:
            answer = await _whole(self.app, scope, receive)
            if not _never_changes(answer):
                await _send(answer, send)
                return
            self.files[path] = await asyncio.to_thread(_compressed, answer)
        await _send(self.files[path], send)

    async def _send_page(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = await _whole(self.app, scope, receive)
        if ROOT in answer["body"]:
            query = scope["query_string"].decode("latin-1")
            has_picture = scope["path"].endswith("/") and not query
            first = (has_picture and self.first_picture()) or self.waiting(query)
            path = scope["path"].removeprefix(f"/{base_path()}")
            head = await asyncio.to_thread(self.head, path, query, origin_of(scope))
            body = answer["body"].replace(TITLE, f"{head}\n    {ONE_BASE}".encode())
            if self.ahead:
                body = PRELOADED.sub(b"", body)
            body = with_chunks(body, self.later)
            before = f"{self.ahead}{first}".encode()
            answer = _with_body(answer, body.replace(ROOT, before + ROOT))
            if _takes_gzip(scope):
                answer = _compressed(answer)
        await _send(answer, send)


async def _whole(app: ASGIApp, scope: Scope, receive: Receive) -> Message:
    """Collect the app's whole answer: {"status", "headers", "body", "is_whole"}.

    It is not whole where the browser went away before the app had sent all of it.
    """
    answer: dict[str, Any] = {"status": 500, "headers": [], "body": b"", "is_whole": False}

    async def keep(message: Message) -> None:
        if message["type"] == "http.response.start":
            answer.update(status=message["status"], headers=list(message["headers"]))
        elif message["type"] == "http.response.body":
            answer["body"] += message.get("body", b"")
            answer["is_whole"] = not message.get("more_body", False)

    extensions = {
        name: it for name, it in scope.get("extensions", {}).items() if "pathsend" not in name
    }
    plain = [header for header in scope["headers"] if header[0] not in AS_IT_IS]
    await app({**scope, "extensions": extensions, "headers": plain}, receive, keep)
    return answer


async def _send(answer: Message, send: Send) -> None:
    start = {"status": answer["status"], "headers": answer["headers"]}
    await send({"type": "http.response.start", **start})
    await send({"type": "http.response.body", "body": answer["body"]})


def _with_body(answer: Message, body: bytes, *more: Header) -> Message:
    """The same answer with another body, which the old one's length and name do not fit."""
    old = (b"content-length", b"etag", b"last-modified")
    headers = [header for header in answer["headers"] if header[0].lower() not in old]
    length = (b"content-length", str(len(body)).encode())
    return {**answer, "headers": [*headers, length, *more], "body": body}


def _compressed(answer: Message) -> Message:
    more = (b"content-encoding", b"gzip"), (b"vary", b"Accept-Encoding")
    return _with_body(answer, gzip.compress(answer["body"], 6), *more)


def _never_changes(answer: Message) -> bool:
    """Tell whether it is a file that never changes, not the page that Streamlit sends instead."""
    kind = _header(answer["headers"], b"content-type").decode()
    is_text = kind.startswith(COMPRESSED) or "javascript" in kind
    is_immutable = b"immutable" in _header(answer["headers"], b"cache-control")
    is_whole = answer["is_whole"] and _header(answer["headers"], b"content-length") in (
        b"",
        str(len(answer["body"])).encode(),
    )
    return is_text and is_immutable and answer["status"] == 200 and is_whole


def _asks_for_page(scope: Scope) -> bool:
    """Tell whether a browser or a messenger opens a link: the latter takes anything, by its words.

    The names of pages have no dot and nothing below them, as files have.
    """
    accepted, path = _header(scope["headers"], b"accept"), scope["path"]
    if b"text/html" in accepted:
        return MEDIA not in path
    name = path.removeprefix(f"/{base_path()}").strip("/")
    return (b"*/*" in accepted or not accepted) and not set(name) & set("./")


def _takes_gzip(scope: Scope) -> bool:
    return b"gzip" in _header(scope["headers"], b"accept-encoding")


def _header(headers: list[Header], name: bytes) -> bytes:
    return next((value for key, value in headers if key.lower() == name), b"")
