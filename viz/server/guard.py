"""The guard around all answers: it settles who may ask, and what a browser may do with them.

At home only this machine's own names are answered, so that no page elsewhere that has taken over a
name of its own (DNS rebinding) reaches the app. In public mode there are as many sessions as the
settings say, and what only the operator needs, to empty caches and to read metrics, is closed.
"""

import html
from dataclasses import dataclass

from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg

from viz.run.operating import COUNTS
from viz.run.settings import SENTENCE_PAGE, base_path, embedding_pages, is_known_host, is_public
from viz.state.limits import limits, may_preview
from viz.state.live_page import AT, LIVE_PAGE, live_address
from viz.state.state import COOKIE, new_cookie

STREAM, PREVIEW = "/_stcore/stream", "/preview/"
CLOSED = ("/_stcore/metrics", "/_stcore/upload_file", "/_stcore/agent")
"""Addresses of Streamlit's that a public server does not answer."""
UNWANTED = ("clear_cache", "set_run_on_save", "load_git_info", "file_urls_request")
"""Messages of a developer's browser, and for uploads: dropped in public mode."""
BYTES_OF_A_CHARACTER, ROOM = 12, 500
"""The size of a preview's request: JSON may write a character as two of \\uXXXX."""
OUR_OWN = "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; object-src 'none'; "
"""Streamlit needs inline scripts; but nothing is loaded from, or sent to, any other server."""
WAIT = 30
"""Seconds after which somebody who found no place may try again."""


@dataclass
class Guard:
    """An ASGI middleware; the outermost one."""

    app: ASGIApp
    n_sessions: int = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse."""
        if scope["type"] == "websocket":
            await self._stream(scope, receive, send)
        elif scope["type"] == "http":
            headers = security_headers()
            if _is_new_browser(scope):
                base = base_path()
                cookie = new_cookie(base, scope["scheme"] == "https")
                headers.append((b"set-cookie", cookie.encode()))

            async def send_safely(message: Message) -> None:
                if message["type"] == "http.response.start":
                    message = {**message, "headers": [*message["headers"], *headers]}
                await send(message)

            answer = self._refusal(scope) or self.app
            await answer(scope, receive, send_safely)
        else:
            await self.app(scope, receive, send)

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not is_known_host(_header(scope, b"host")):
            COUNTS.add("headscope_refused_total", reason="host")
            await _close(receive, send)
            return
        if not scope["path"].endswith(STREAM):  # a talk's: it is no session
            await self.app(scope, receive, send)
            return
        if self._is_full():
            COUNTS.add("headscope_refused_total", reason="sessions")
            await _close(receive, send)
            return

        async def wanted() -> Message:
            while True:
                message = await receive()
                if not _is_unwanted(message):
                    return message
                COUNTS.add("headscope_refused_total", reason="message")

        self.n_sessions += 1
        COUNTS.add("headscope_sessions")
        try:
            await self.app(scope, wanted if is_public() else receive, send)
        finally:
            self.n_sessions -= 1
            COUNTS.add("headscope_sessions", -1)

    def _refusal(self, scope: Scope) -> Response | None:
        path = scope["path"]
        if not is_known_host(_header(scope, b"host")):
            COUNTS.add("headscope_refused_total", reason="host")
            reason = "This name is not one of the server's own: HEADSCOPE_HOSTS may list it."
            return PlainTextResponse(reason, 403)
        if not is_public():
            return None
        if any(closed in path for closed in CLOSED):
            return PlainTextResponse("Not here.", 404)
        is_preview = PREVIEW in path
        if is_preview and (_length(scope) > _largest_preview() or not may_preview(path)):
            return Response(status_code=204)  # as for any text that cannot be previewed
        is_page = b"text/html" in _header(scope, b"accept")
        if is_page and not path.startswith(f"{live_address()}/") and self._is_full():
            COUNTS.add("headscope_refused_total", reason="sessions")
            sentence = SENTENCE_PAGE.format(
                said=_all_taken(path, scope["query_string"].decode("latin-1"))
            )
            return HTMLResponse(sentence, 503, {"retry-after": str(WAIT)})
        return None

    def _is_full(self) -> bool:
        most = limits().sessions
        return most is not None and self.n_sessions >= most


def _all_taken(path: str, query: str) -> str:
    """Say in HTML that the server has no place, and where none is needed."""
    reason = f"All {limits().sessions} places are taken. Try again in half a minute"
    if not LIVE_PAGE.is_there:
        return f"{reason}."
    page = path.removeprefix(f"/{base_path()}").strip("/")
    named = f"page={page}" if page and "/" not in page else ""
    there = html.escape(f"./{AT}/?{'&'.join(filter(None, (named, query)))}".removesuffix("?"))
    return f'{reason}, or <a href="{there}">go on in your browser</a>, which needs no place.'


def security_headers() -> list[tuple[bytes, bytes]]:
    """Return the headers of every answer."""
    frames = " ".join(("'self'", *embedding_pages()))
    policy = f"{OUR_OWN}base-uri 'self'; form-action 'self'; frame-ancestors {frames}"
    headers = {
        "content-security-policy": policy,
        "cross-origin-opener-policy": "same-origin",
        "permissions-policy": "camera=(), geolocation=(), microphone=()",
        "referrer-policy": "same-origin",  # an address holds what somebody typed
        "x-content-type-options": "nosniff",
    }
    if not embedding_pages():
        headers["x-frame-options"] = "SAMEORIGIN"
    return [(name.encode(), value.encode()) for name, value in headers.items()]


def _is_new_browser(scope: Scope) -> bool:
    """Tell whether somebody opens a page who has no cookie yet."""
    is_page = scope["method"] == "GET" and b"text/html" in _header(scope, b"accept")
    return is_page and f"{COOKIE}=".encode() not in _header(scope, b"cookie")


def _is_unwanted(message: Message) -> bool:
    if message["type"] != "websocket.receive" or not message.get("bytes"):
        return False
    backwards = BackMsg()
    try:
        backwards.ParseFromString(message["bytes"])
    except Exception:  # what cannot be read is Streamlit's to refuse
        return False
    return backwards.WhichOneof("type") in UNWANTED


async def _close(receive: Receive, send: Send) -> None:
    await receive()
    await send({"type": "websocket.close", "code": 1013})


def _largest_preview() -> int:
    return BYTES_OF_A_CHARACTER * (limits().characters or 0) + ROOM


def _length(scope: Scope) -> int:
    length = _header(scope, b"content-length")
    return int(length[:12]) if length.isdigit() else 2**40  # nobody says no length but who hides it


def _header(scope: Scope, name: bytes) -> bytes:
    return next((value for key, value in scope["headers"] if key.lower() == name), b"")
