"""Two viewers behind a proxy that keeps a visitor at one, as docs/deploy/nginx.conf does."""

import asyncio
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from threading import Event, Thread
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.server import serve
from tests.browser.test_app import open_app, wait_for_map

pytestmark = pytest.mark.browser
LINK = "?checkpoint=copy&text=3+7+2+9&kind=cross&layer=1&head=2&picture=map"


class Proxy(Thread):
    """Passes each connection on to one of the viewers: to that which its cookie names."""

    def __init__(self, viewers: list[str]) -> None:
        super().__init__()
        self.viewers, self.address = viewers, ""
        self.n_passed: Counter[int] = Counter()
        """Viewer -> connections."""
        self._listens = Event()

    def __enter__(self) -> "Proxy":
        self.start()
        self._listens.wait()
        return self

    def __exit__(self, *error: object) -> None:
        self._loop.call_soon_threadsafe(self._ended.set)
        self.join()

    def run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        async with await asyncio.start_server(self._pass_on, "127.0.0.1", 0) as server:
            self.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            self._listens.set()
            await self._ended.wait()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer), suppress(OSError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            (viewer,) = map(int, re.findall(rb"viewer=(\d)", head))
            self.n_passed[viewer] += 1
            port = urlsplit(self.viewers[viewer]).port
            back, there = await asyncio.open_connection("127.0.0.1", port)
            there.write(head)
            await asyncio.gather(_pour(reader, there), _pour(back, writer))


async def _pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Until one of the two ends."""
    with closing(writer), suppress(OSError):
        while data := await reader.read(2**16):
            writer.write(data)
            await writer.drain()


@pytest.fixture
def proxy(address: str) -> Iterator[Proxy]:
    with serve() as other, Proxy([address, other]) as made:
        yield made


def visitor(browser: Browser, address: str, viewer: int) -> Page:
    """A page in a browser of its own, which the proxy keeps at this viewer."""
    context = browser.new_context()
    context.add_cookies([{"name": "viewer", "value": str(viewer), "url": address}])
    return context.new_page()


def test_every_link_opens_on_any_viewer(browser: Browser, proxy: Proxy) -> None:
    first, second = (visitor(browser, proxy.address, viewer) for viewer in (0, 1))
    open_app(first, f"{proxy.address}/{LINK}")
    wait_for_map(first, "cross L1 H2")
    assert set(proxy.n_passed) == {0}
    first.get_by_role("gridcell", name="Cross L0 H1:").click()
    wait_for_map(first, "cross L0 H1")
    expect(first).to_have_url(re.compile("head=1"))
    n_passed = proxy.n_passed[0]

    open_app(second, first.url)  # sent by one visitor to another
    wait_for_map(second, "cross L0 H1")
    expect(second.get_by_label("Sentence")).to_have_value("3 7 2 9")
    assert proxy.n_passed[1] and proxy.n_passed[0] == n_passed
    for page in (first, second):
        page.context.close()
