"""Several viewers behind nginx, by the file that docs/deploy ships, on this machine's ports."""

import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from email.message import Message
from pathlib import Path

from tests.browser.server import free_port, serve

ROOT = Path(__file__).parents[2]
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin") or shutil.which("nginx")
"""None: it is not installed. Debian keeps it where only root's PATH looks."""
_KEPT = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
"""Folders that nginx makes, which others than root may not make in its own place."""


@dataclass
class Viewer:
    """One of them, with the port of its metrics and what ends it."""

    address: str
    metrics: int
    process: ExitStack

    def n_sessions(self) -> int:
        """Read its open pages from its metrics."""
        found = get(f"http://127.0.0.1:{self.metrics}/metrics")[1]
        (n,) = re.findall(r"^headscope_sessions (\d+)", found, re.MULTILINE)
        return int(n)


@dataclass
class Deployed:
    """What runs: viewers, and the proxy before them."""

    viewers: list[Viewer]
    address: str
    log: Path


@contextmanager
def behind_nginx(folder: Path, n: int = 2, **environment: str) -> Iterator[Deployed]:
    """n viewers with these settings as long as the block; folder: of nginx's own files.

    Raises RuntimeError where nginx is not installed, or does not answer.
    """
    if NGINX is None:
        raise RuntimeError("nginx is not installed: apt-get install nginx-light, or dnf, or brew.")
    with ExitStack() as all_of_it:
        viewers = []
        for _ in range(n):
            process, metrics = all_of_it.enter_context(ExitStack()), free_port()
            said = {"HEADSCOPE_METRICS": f"127.0.0.1:{metrics}", **environment}
            viewers.append(
                Viewer(process.enter_context(serve(ROOT / "app.py", **said)), metrics, process)
            )
        port = free_port()
        proxy = subprocess.Popen(
            [NGINX, "-p", str(folder), "-c", str(_configured(folder, viewers, port))],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        all_of_it.callback(proxy.wait, 20)
        all_of_it.callback(proxy.terminate)
        address = f"http://127.0.0.1:{port}"
        _wait_until_it_answers(f"{address}/_stcore/health", proxy)
        yield Deployed(viewers, address, folder / "log")


def _configured(folder: Path, viewers: list[Viewer], port: int) -> Path:
    """Write the file as it is shipped, with the places of this machine."""
    text = (ROOT / "docs" / "deploy" / "nginx.conf").read_text()
    own = "".join(f"{name}_temp_path {folder}/{name};\n" for name in _KEPT)
    shipped = re.findall(r" *server viewer-\d+:8501.*\n", text)
    one = shipped[0].replace("viewer-1:8501", "{}")
    places = [each.address.removeprefix("http://") for each in viewers]
    changes = {
        "events {}": f"daemon off; pid {folder}/pid; error_log {folder}/errors;\nevents {{}}",
        "http {": f"http {{\n{own}",
        "/dev/stdout": f"{folder}/log",
        "listen 80;": f"listen 127.0.0.1:{port};",
        "".join(shipped): "".join(map(one.format, places)),
    }
    for old, new in changes.items():
        if text.count(old) != 1:
            raise RuntimeError(f"docs/deploy/nginx.conf says {old!r} not once")
        text = text.replace(old, new)
    file = folder / "nginx.conf"
    file.write_text(text)
    return file


def _wait_until_it_answers(address: str, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if get(address)[0] == 200:
                return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError("nginx does not answer")


def get(address: str, **headers: str) -> tuple[int, str, str]:
    """Status, text, and what is to be kept as a cookie."""
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers)) as answer:
            return answer.status, answer.read().decode(), _own_cookie(answer.headers)
    except urllib.error.HTTPError as error:
        return error.code, "", ""


def _own_cookie(headers: Message) -> str:
    """What nginx sets, beside the cookies of Streamlit."""
    set_there = headers.get_all("Set-Cookie") or []
    return next((each for each in set_there if each.startswith("viewer=")), "")
