"""docs/deploy/nginx.conf in front of two viewers, where nginx is installed."""

import asyncio
import re
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from email.message import Message
from pathlib import Path

import pytest

from tests.browser.server import serve
from tests.load.visitor import Shown, Visitor

ROOT = Path(__file__).parents[1]
NGINX = shutil.which("nginx")
QUERY = {"checkpoint": "copy", "text": "3 7 2 9", "kind": "cross", "layer": "1", "head": "2"}
pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@dataclass
class Viewer:
    """One of the two, with the port of its metrics and what ends it."""

    address: str
    metrics: int
    process: ExitStack

    def n_sessions(self) -> int:
        found = get(f"http://127.0.0.1:{self.metrics}/metrics")[1]
        (n,) = re.findall(r"^headscope_sessions (\d+)", found, re.MULTILINE)
        return int(n)


@dataclass
class Deployed:
    """What runs: viewers, and the proxy before them."""

    viewers: list[Viewer]
    address: str
    log: Path


def get(address: str, **headers: str) -> tuple[int, str, str]:
    """Status, text, and what is to be kept as a cookie."""
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers)) as answer:
            return answer.status, answer.read().decode(), own_cookie(answer.headers)
    except urllib.error.HTTPError as error:
        return error.code, "", ""


def own_cookie(headers: Message) -> str:
    """What nginx sets, beside the cookies of Streamlit."""
    set_there = headers.get_all("Set-Cookie") or []
    return next((each for each in set_there if each.startswith("viewer=")), "")


@pytest.fixture
def deployed(tmp_path: Path) -> Iterator[Deployed]:
    with ExitStack() as all_of_it:
        viewers = []
        for _ in range(2):
            process, metrics = all_of_it.enter_context(ExitStack()), free_port()
            said = {
                "HEADSCOPE_PUBLIC": "yes",
                "HEADSCOPE_HOSTS": "127.0.0.1",
                "HEADSCOPE_METRICS": f"127.0.0.1:{metrics}",
                "FORWARDED_ALLOW_IPS": "*",
            }
            address = process.enter_context(serve(**said))
            viewers.append(Viewer(address, metrics, process))
        port = free_port()
        proxy = subprocess.Popen(
            [str(NGINX), "-p", str(tmp_path), "-c", str(configured(tmp_path, viewers, port))],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        all_of_it.callback(proxy.wait, 20)
        all_of_it.callback(proxy.terminate)
        address = f"http://127.0.0.1:{port}"
        wait_until_it_answers(f"{address}/_stcore/health", proxy)
        yield Deployed(viewers, address, tmp_path / "log")


def configured(folder: Path, viewers: list[Viewer], port: int) -> Path:
    """The file as it is shipped, with the places of this machine."""
    text = (ROOT / "docs" / "deploy" / "nginx.conf").read_text()
    kept = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    own = "".join(f"{name}_temp_path {folder}/{name};\n" for name in kept)
    changes = {
        "events {}": f"daemon off; pid {folder}/pid; error_log {folder}/errors;\nevents {{}}",
        "http {": f"http {{\n{own}",
        "/dev/stdout": f"{folder}/log",
        "listen 80;": f"listen 127.0.0.1:{port};",
    }
    for n, viewer in enumerate(viewers, 1):
        changes[f"viewer-{n}:8501"] = viewer.address.removeprefix("http://")
    for old, new in changes.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    file = folder / "nginx.conf"
    file.write_text(text)
    return file


def wait_until_it_answers(address: str, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if get(address)[0] == 200:
                return
        except OSError:
            time.sleep(0.05)
    raise AssertionError("nginx does not answer")


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
