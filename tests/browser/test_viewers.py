"""Two viewers behind a proxy that keeps a visitor at one, as docs/deploy/nginx.conf does.

One of them ends: to its visitors that is a server that starts anew at the same address.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
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
        self.first = ExitStack()
        """What ends the first of them."""
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
    with ExitStack() as first:
        own = first.enter_context(serve())
        with Proxy([own, address]) as made:
            made.first = first
            yield made


def visitor(browser: Browser, address: str, viewer: int) -> Page:
    """A page in a browser of its own, which the proxy keeps at this viewer."""
    context = browser.new_context()
    context.add_cookies([{"name": "viewer", "value": str(viewer), "url": address}])
    return context.new_page()


@pytest.mark.thorough
def test_every_link_opens_on_any_viewer_and_a_page_goes_on_at_a_new_one(
    browser: Browser, proxy: Proxy
) -> None:
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

    open_app(first, f"{proxy.address}/decode?checkpoint=copy")
    player = first.locator(".decode-player[data-nonce]")
    expect(player).to_have_attribute("data-step", "0")
    first.get_by_role("button", name="Next step").click()
    expect(first).to_have_url(re.compile("step=1"))
    first.get_by_label("Speed").select_option("0.5")
    first.get_by_role("button", name="Play").click()
    expect(player).to_have_attribute("data-step", "2")
    proxy.first.close()
    expect(first.get_by_role("dialog")).to_contain_text("server is not responding")
    proxy.viewers[0] = proxy.viewers[1]
    expect(first.get_by_role("dialog")).to_have_count(0)
    # The address by which it was opened is older; the one in the browser says where Play began.
    expect(player).to_have_attribute("data-step", "1")
    expect(first).to_have_url(re.compile("step=1"))
    field = first.get_by_label("Sentence")
    field.fill("5 3 9")
    field.press("Enter")
    expect(first).to_have_url(re.compile("text=5%203%209"))
    source = first.locator('.token-rows .chip[data-side="source"]')
    expect(source).to_have_text(["5", "3", "9"])
    for page in (first, second):
        page.context.close()
