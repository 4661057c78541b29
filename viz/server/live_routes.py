"""The page without a server, served beside the app at /live/, and who is led there first."""

from mimetypes import guess_type
from os import stat_result
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import NotModifiedResponse, StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from viz.run.settings import SENTENCE_PAGE, base_path, live
from viz.server.shell import ASKED_AGAIN, FOREVER
from viz.state.live_page import APP, AT, LIVE_PAGE, live_address

SOON = 3
"""Seconds after which a browser asks again for a page that is being made."""
MAKING = (
    "The page that runs in your browser is being made, which this server does once. It opens by "
    f'itself in a minute. <a href="{APP}">In the app</a> nobody waits for it.'
)
NONE = f'This server has no page that runs in your browser. <a href="{APP}">The app</a> is here.'
CHUNK = 2**18
"""Bytes of a file that are sent at a time: each is a step of the server's one loop."""
COOKIE = "headscope-app"
"""A browser that has it has asked for the app, where the page comes first."""


def live_routes() -> list[BaseRoute]:
    """Return the routes of the page; none where the settings say no."""
    if live() == "no":
        return []
    place = live_address()
    return [Route(place, _with_slash, methods=["GET", "HEAD"]), Mount(place, LiveFiles())]


async def _with_slash(request: Request) -> Response:
    """Relative, as a proxy may have put a path before it."""
    query = request.url.query
    return RedirectResponse(f"./{AT}/?{query}" if query else f"./{AT}/", 307)


class LiveFiles:
    """An ASGI app: the files of the page, or a sentence while they are being made."""

    def __init__(self) -> None:
        self._files: _Files | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        LIVE_PAGE.begin()
        if not LIVE_PAGE.folders:
            answer = HTMLResponse(SENTENCE_PAGE.format(said=NONE), 404)
            if not LIVE_PAGE.has_failed:
                wait = {"retry-after": str(SOON), "refresh": str(SOON), "cache-control": "no-store"}
                answer = HTMLResponse(SENTENCE_PAGE.format(said=MAKING), 503, wait)
            await answer(scope, receive, send)
            return
        if self._files is None:
            self._files = _Files(directory=LIVE_PAGE.folders[0], html=True)
        self._files.all_directories = [*LIVE_PAGE.folders]  # a file is looked for in their order
        await self._files(scope, receive, send)


NAMED = ("assets", "gallery", "heads")
"""The folders whose files are named after what is in them, beside the parts of weights."""


class _Files(StaticFiles):
    """Files of the page: those that are named after what is in them are kept for good."""

    def file_response(
        self, full_path: Any, stat_result: stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        path, request = Path(full_path), Request(scope)
        kind = guess_type(path.name)[0] or "application/octet-stream"
        is_named = path.suffix == ".bin" or path.parent.name in NAMED
        headers = dict(FOREVER if is_named else ASKED_AGAIN)
        # Else Streamlit would compress it for each who asks: a third of a second for a part.
        headers["content-encoding"] = "identity"
        small = path.with_name(f"{path.name}.gz")
        if small.is_file():
            headers["vary"] = "Accept-Encoding"
            if "gzip" in request.headers.get("accept-encoding", ""):
                path, stat_result = small, small.stat()
                headers["content-encoding"] = "gzip"
        answer = FileResponse(path, status_code, headers, kind, stat_result=stat_result)
        answer.chunk_size = CHUNK
        if self.is_not_modified(answer.headers, request.headers):
            return NotModifiedResponse(answer.headers)
        return answer


class LiveFirst:
    """An ASGI middleware: whoever opens the app at its root is led to the page, once that is there,
    where the operator wants it so; who asks for the app gets it from then on.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if not (live() == "first" and LIVE_PAGE.is_there and _opens_app(scope)):
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        asks = request.query_params.get("app") == "yes"
        if not asks and request.cookies.get(COOKIE) != "yes":
            query = f"?{request.url.query}" if request.url.query else ""
            there = RedirectResponse(f"./{AT}/{query}", 307, {"cache-control": "no-store"})
            await there(scope, receive, send)
            return

        async def keep(message: Message) -> None:
            if message["type"] == "http.response.start" and asks:
                cookie = f"{COOKIE}=yes; Path=/{base_path()}; SameSite=Lax".encode()
                headers = [*message["headers"], (b"set-cookie", cookie)]
                message = {**message, "headers": headers}
            await send(message)

        await self.app(scope, receive, keep)


def _opens_app(scope: Scope) -> bool:
    """Tell whether a browser opens the app's first page, and not as a window of a talk."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return False
    request, is_root = Request(scope), scope["path"].strip("/") == base_path()
    is_page = is_root and "text/html" in request.headers.get("accept", "")
    return is_page and "role" not in request.query_params
