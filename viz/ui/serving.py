"""What the server does beside Streamlit: once it listens, and at addresses of its own."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st
from starlette.routing import Route
from streamlit.cli_util import open_browser
from streamlit.web.server.server_util import get_display_address, get_url

from viz.ui.live_preview import preview_route

SWITCH = 5e-4
"""Seconds that the thread which sends elements waits, at each step, for the script."""
LISTENS = 0.2
"""Seconds after which the server surely answers."""


def routes() -> list[Route]:
    """Addresses beside Streamlit's own."""
    return [preview_route()]


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Around the time in which the server answers."""
    sys.setswitchinterval(SWITCH)
    if not st.get_option("server.headless"):  # an st.App does not open it by itself
        host = get_display_address(st.get_option("server.address") or "localhost")
        asyncio.get_running_loop().call_later(LISTENS, open_browser, get_url(host))
    yield
