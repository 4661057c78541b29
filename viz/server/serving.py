"""The server's own part beside Streamlit: a start, and addresses of its own."""

import asyncio
import gzip
import sys
import tomllib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from functools import cache, partial
from logging import ERROR, getLogger
from pathlib import Path
from threading import Lock, Thread
from typing import Any
from urllib.parse import quote

import streamlit as st
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route
from streamlit import net_util
from streamlit.cli_util import open_browser
from streamlit.web.server.server_util import get_display_address, get_url

from transformer.refusal import Refusal
from viz.app_packages import load_all
from viz.components.kit.browser import AT, SERVED, script_address, script_files
from viz.run.cache import CACHE, collect_garbage
from viz.run.operating import failure, metrics_served, set_up_logs
from viz.run.settings import base_path, check_settings, is_public, live, memory
from viz.screen import FIRST_PAGE
from viz.server.guard import Guard
from viz.server.link_head import link_picture_route
from viz.server.live_routes import LiveFirst, live_routes
from viz.server.scene_picture import thumbnails_route
from viz.server.shell import NO_WORDS, Shell, chunks_route, faces, fonts_route, keeping, waiting
from viz.spelling import FORMER
from viz.state.limits import limits
from viz.state.live_page import LIVE_PAGE
from viz.state.page import report, say_failure
from viz.state.preview_route import preview_route
from viz.talks.room_routes import room_routes

# The scripts of components, at addresses of their own.


def scripts_route() -> Route:
    """Return the route of the files; from now on components lead there."""
    SERVED["is_so"] = True
    return Route("/".join(["", *filter(None, (base_path(), AT)), "{name}"]), _send, methods=["GET"])


async def _send(request: Request) -> Response:
    name = request.path_params["name"].removesuffix(".js")
    if name not in script_files():
        return PlainTextResponse("There is no such script.", 404)
    digest = script_address(name).partition("?")[2]
    headers = {**keeping(request, digest), "vary": "Accept-Encoding"}
    content = script_files()[name]
    if "gzip" in request.headers.get("accept-encoding", ""):
        content, headers["content-encoding"] = _compressed(name), "gzip"
    return Response(content, media_type="text/javascript", headers=headers)


@cache
def _compressed(name: str) -> bytes:
    return gzip.compress(script_files()[name], 9)


# The recording of a talk, made while it is open: the browser keeps it for when all else fails.
#
# It is the story as one HTML file, as it is saved: `viz/server/recording_scenes.py` makes each
# scene in the line with everything else that is asked. One story is recorded at a time, for all
# who give it.

_LOG = getLogger(__name__)
PATH = "recorded"
NONE = 204
"""There is no recording of that."""
HEADERS = {"cache-control": "no-store"}
"""The next talk is recorded anew: its weights may be others."""
Record = Callable[[str], bytes | None]
"""A story's name -> the file; None where there is no such story."""
_making: dict[str, "Future[bytes | None]"] = {}
_alone = Lock()


def recorded_route(record: Record) -> Route:
    """Return the route where a browser asks for a recording, and waits until it is made."""

    async def answer(request: Request) -> Response:
        name = request.query_params.get("story", "")
        made = _making.get(name) or _begin(name, record)
        content = await asyncio.shield(asyncio.wrap_future(made))
        if content is None:
            return Response(status_code=NONE, headers=HEADERS)
        return Response(content, media_type="text/html", headers=HEADERS)

    base = base_path()
    return Route("/".join(["", *filter(None, (base, PATH))]), answer, methods=["GET"])


def _begin(name: str, record: Record) -> "Future[bytes | None]":
    """Only the server's one loop begins anything, so nothing is begun twice."""
    made: Future[bytes | None] = Future()
    _making[name] = made
    Thread(target=_make, args=(name, record, made), name="recording", daemon=True).start()
    return made


def _make(name: str, record: Record, made: "Future[bytes | None]") -> None:
    content = None
    try:
        with _alone:
            content = record(name)
    except Exception as error:  # a talk goes on without it
        _LOG.error("A story could not be recorded: %s", failure(error))
    finally:
        _making.pop(name, None)
        made.set_result(content)


# The server's own part beside Streamlit: a start, and addresses of its own.

ROOT = Path(__file__).parents[2]
SWITCH = 5e-4
"""Seconds that the thread which sends elements waits, at each step, for the script."""
_ABOUT_SESSIONS = "streamlit.runtime.scriptrunner_utils.script_run_context"
Pages = Callable[[], Mapping[str, Any]]
OPENS = {"at": ""}
"""The link, relative to the app, that the browser opens once it listens."""
_first: dict[str, str] = {}
LISTENS = 0.2
"""Seconds after which the server surely answers."""


def make_app(started: Callable[[], object], pages: Pages) -> st.App:
    """The app, for a process that serves it by itself.

    started: called once it answers; pages: finds those of the app.
    """

    @asynccontextmanager
    async def telling(app: st.App) -> AsyncIterator[None]:
        async with lifespan(app):
            started()
            yield

    places = (ROOT / "app.py", ROOT / "script" / "headscope_app.py")  # the latter where installed
    script = next(place for place in places if place.is_file())
    return st.App(script, lifespan=telling, routes=routes(pages), middleware=middleware(pages))


def options_of_app() -> dict[str, Any]:
    """Return the options that `streamlit run` would read beside app.py, with their values."""
    return dict(_flat(tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())))


def _flat(values: dict[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def middleware(pages: Pages = dict) -> list[Middleware]:
    """Return the layers around Streamlit's answers. Ends the process for an unreadable setting.

    pages: finds those of the app.
    """
    try:
        check_settings()
        limits()
        CACHE.most_bytes = memory()
    except Refusal as error:
        sys.exit(f"error: {error}")
    return [
        Middleware(Guard),
        Middleware(LiveFirst),
        Middleware(
            Shell,
            first_picture=lambda: _first.get("picture", ""),
            waiting=waiting,
            head=partial(_head, pages),
            leads=partial(_leads, pages),
            ahead=faces(),
            later=(script_address("first"),),
        ),
    ]


def routes(pages: Pages = dict) -> list[BaseRoute]:
    """Addresses beside Streamlit's own. pages: finds those of the app."""
    recorded = recorded_route(partial(_record, pages))
    thumbnails = thumbnails_route(partial(_thumbnail, pages))
    picture = link_picture_route(partial(_link_picture, pages))
    first = [chunks_route(), fonts_route(), scripts_route()]
    others = [*room_routes(), *live_routes()]
    return [*first, preview_route(), recorded, thumbnails, picture, *others]


def _head(pages: Pages, path: str, query: str, origin: str | None) -> str:
    from viz.server.link_head import link_head
    from viz.state.page import PAGES

    try:
        PAGES.update(pages())
        return link_head(PAGES, path, query, origin)
    except Exception as error:  # the app opens without them
        _LOG.error("The words of a link could not be made: %s", failure(error))
        return NO_WORDS


def _leads(pages: Pages, name: str) -> str:
    from viz.state.page import PAGES

    try:
        PAGES.update(pages())
    except Exception:
        return name  # the app says why
    if name == FIRST_PAGE:  # Streamlit serves it at the app's root alone
        return ""
    name = FORMER.get(name, name)
    return name if name in PAGES else f"?page={quote(name, safe='')}"


def _link_picture(pages: Pages, screen: Any, who: str) -> bytes | None:
    from viz.server.link_drawing import link_picture
    from viz.state.page import PAGES

    PAGES.update(pages())
    return link_picture(screen, who)


def _record(pages: Pages, story: str) -> bytes | None:
    from viz.server.recording_scenes import recorded  # imports torch, as the first picture does
    from viz.state.page import PAGES

    PAGES.update(pages())  # nobody may have opened one yet
    return recorded(story)


def _thumbnail(pages: Pages, *query: str) -> bytes | None:
    from viz.server.scene_picture import thumbnail
    from viz.state.page import PAGES

    PAGES.update(pages())
    return thumbnail(*query)


def say_fault(error: Exception) -> bool:
    """Say what fails beside the pages, too: otherwise Streamlit draws its box."""
    say_failure(report(error, "The app could not be drawn"))
    return True


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Around the time in which the server answers."""
    sys.setswitchinterval(SWITCH)
    _allow_open_files()
    set_up_logs()
    # Streamlit would ask a server elsewhere for this machine's address: when it starts, and
    # whenever a page of a name that it does not know connects.
    net_util.get_external_ip = lambda: None
    if not st.get_option("server.headless"):  # an st.App does not open it by itself
        host = get_display_address(st.get_option("server.address") or "localhost")
        address = get_url(host).rstrip("/") + OPENS["at"].removeprefix(".")
        asyncio.get_running_loop().call_later(LISTENS, open_browser, address)
    making = asyncio.create_task(asyncio.to_thread(_make_first_picture))
    collecting = asyncio.create_task(collect_garbage())
    if live() == "first" or (live() == "yes" and is_public()):
        LIVE_PAGE.begin()  # else whoever asks for it first begins it: one's own machine may rest
    async with metrics_served():
        yield
    LIVE_PAGE.end()
    making.cancel()
    collecting.cancel()


def _allow_open_files() -> None:
    """Let the process open as many files as the system allows.

    Streamlit has four for each session, and keeps three of them for two minutes once it has left.
    Many systems let a process have 1,024 unless it asks for more.
    """
    with suppress(ImportError, OSError, ValueError):  # not Unix; or there is no number
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _make_first_picture() -> None:
    """Beside the first requests: torch alone takes seconds to be imported."""
    from viz.server.first_picture import first_picture

    getLogger(_ABOUT_SESSIONS).setLevel(ERROR)  # there is none here, and none is needed
    _first["picture"] = first_picture()
    load_all()
