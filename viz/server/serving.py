"""The server's own part beside Streamlit: a start, and addresses of its own."""

import asyncio
import sys
import tomllib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from logging import ERROR, getLogger
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import BaseRoute
from streamlit import net_util
from streamlit.cli_util import open_browser
from streamlit.web.server.server_util import get_display_address, get_url

from transformer.refusal import Refusal
from viz.app_packages import load_all
from viz.components.kit.scripts import script_address
from viz.run.cache import CACHE
from viz.run.garbage import collect_garbage
from viz.run.operating.logs import failure, set_up_logs
from viz.run.operating.metrics import metrics_served
from viz.run.settings import check_settings, memory
from viz.server.first_chunks import chunks_route
from viz.server.first_fonts import faces, fonts_route
from viz.server.first_page import first_page_route
from viz.server.guard import Guard
from viz.server.link_picture import link_picture_route
from viz.server.scripts import scripts_route
from viz.server.shell import NO_WORDS, Shell
from viz.server.talk_backup import recorded_route
from viz.server.thumbnails import thumbnails_route
from viz.server.waiting import waiting
from viz.state.failures import report, say_failure
from viz.state.limits import limits
from viz.state.preview_route import preview_route
from viz.talks.room_routes import room_routes

_LOG = getLogger(__name__)
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


def make_app(started: Callable[[], object]) -> st.App:
    """The app, for a process that serves it by itself. started: called once it answers."""

    @asynccontextmanager
    async def telling(app: st.App) -> AsyncIterator[None]:
        async with lifespan(app):
            started()
            yield

    places = (ROOT / "app.py", ROOT / "script" / "headscope_app.py")  # the latter where installed
    script = next(place for place in places if place.is_file())
    return st.App(script, lifespan=telling, routes=routes(), middleware=middleware())


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
        Middleware(
            Shell,
            first_picture=lambda: _first.get("picture", ""),
            waiting=waiting,
            head=partial(_head, pages),
            ahead=faces(),
            later=(script_address("first"),),
        ),
    ]


def routes(pages: Pages = dict) -> list[BaseRoute]:
    """Addresses beside Streamlit's own. pages: finds those of the app."""
    recorded = recorded_route(partial(_record, pages))
    thumbnails = thumbnails_route(partial(_thumbnail, pages))
    picture = link_picture_route(partial(_link_picture, pages))
    first = [first_page_route(), chunks_route(), fonts_route(), scripts_route()]
    return [*first, preview_route(), recorded, thumbnails, picture, *room_routes()]


def _head(pages: Pages, path: str, query: str, origin: str | None) -> str:
    from viz.server.link_head import link_head
    from viz.state.page import PAGES

    try:
        PAGES.update(pages())
        return link_head(PAGES, path, query, origin)
    except Exception as error:  # the app opens without them
        _LOG.error("The words of a link could not be made: %s", failure(error))
        return NO_WORDS


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
    async with metrics_served():
        yield
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
