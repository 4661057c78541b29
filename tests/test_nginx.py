"""docs/deploy/nginx.conf in front of two viewers, where nginx is installed."""

import asyncio
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.load.viewers import NGINX, Deployed, Viewer, behind_nginx, get
from tests.load.visitor import Shown, Visitor
from viz.state.live_page import key_of_page, names_for_page

QUERY = {"checkpoint": "copy", "text": "3 7 2 9", "kind": "cross", "layer": "1", "head": "2"}
PAGE = "<p>The page that runs in a browser</p>"
pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")


@pytest.fixture
def deployed(tmp_path: Path) -> Iterator[Deployed]:
    said = {"PUBLIC": "yes", "HOSTS": "127.0.0.1", "LIVE": "yes"}
    settings = {f"HEADSCOPE_{name}": value for name, value in said.items()}
    cache = tmp_path / "cache"
    page = cache / "headscope" / "live" / key_of_page(names_for_page())
    (page / "weights").mkdir(parents=True)  # it is made already
    (page / "index.html").write_text(PAGE)
    (page / "weights" / "a.bin").write_bytes(b"weights")
    settings |= {"XDG_CACHE_HOME": str(cache), "FORWARDED_ALLOW_IPS": "*"}
    with behind_nginx(tmp_path, 2, **settings) as found:
        yield found


async def looks(address: str, cookie: str, n: int = 1) -> tuple[Shown, Shown | None]:
    """What a link shows there, and what a preview shows, which only its own viewer can make."""
    visitors = [Visitor(address, dict(QUERY), {"Cookie": f"viewer={cookie}"}) for _ in range(n)]
    for each in visitors:
        async with each:
            assert not each.errors
            previewed = await each.preview("3 7 2 9 4")
    return visitors[0].shown, previewed


def test_visitors_stay_at_their_viewer_and_links_open_on_any(deployed: Deployed) -> None:
    address, viewers = deployed.address, deployed.viewers
    status, text, kept = get(f"{address}/_stcore/health")
    assert (status, text) == (200, "ok")
    assert re.match(r"viewer=[0-9a-f]{32}; Path=/; HttpOnly; SameSite=Lax; Max-Age=\d+$", kept)
    own = kept.partition(";")[0].partition("=")[2]
    assert get(f"{address}/", Cookie=f"viewer={own}")[2].startswith(f"viewer={own};")
    assert get(f"{address}/_stcore/metrics")[0] == 404
    deadline = time.monotonic() + 60
    while get(f"{address}/live/?text=a")[:2] != (200, PAGE):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert get(f"{address}/live/weights/a.bin")[:2] == (200, "weights")

    homes = {f"{n:032x}": asyncio.run(home(deployed, f"{n:032x}")) for n in range(8)}
    assert set(homes.values()) == {0, 1}  # eight cookies on one viewer are one case in 128
    first, second = (next(c for c, at in homes.items() if at == n) for n in (0, 1))
    for cookie in (first, second):
        shown, previewed = asyncio.run(looks(address, cookie, n=2))
        assert shown[0][:4] == tuple("3729") and shown[1][:4] == tuple("3729")
        assert previewed is not None and previewed[0][:5] == tuple("37294")

    viewers[0].process.close()
    shown, previewed = asyncio.run(looks(address, first))  # it connects anew, to the other one
    assert shown[1][:4] == tuple("3729") and previewed is not None
    assert asyncio.run(home(deployed, second)) == 1
    assert "text=" not in deployed.log.read_text()


async def home(deployed: Deployed, cookie: str) -> int:
    """Which viewer a visitor with this cookie comes to, twice in a row."""
    found = set()
    for _ in range(2):
        async with Visitor(
            deployed.address, dict(QUERY), {"Cookie": f"viewer={cookie}"}
        ) as visitor:
            assert not visitor.errors
            alive = [each for each in deployed.viewers if is_alive(each)]
            (here,) = [each for each in alive if each.n_sessions()]
            found.add(deployed.viewers.index(here))
        for each in alive:
            until_empty(each)
    (where,) = found
    return where


def is_alive(viewer: Viewer) -> bool:
    try:
        return get(f"{viewer.address}/_stcore/health")[0] == 200
    except OSError:
        return False


def until_empty(viewer: Viewer) -> None:
    deadline = time.monotonic() + 60
    while viewer.n_sessions():
        assert time.monotonic() < deadline
        time.sleep(0.02)
