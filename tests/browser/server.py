"""Start the app on a free port, and a browser: for tests, screenshots and the bench."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, Playwright

ROOT = Path(__file__).parents[2]
APPS = Path(__file__).parent / "apps" / "every.py"
BROWSERS = (
    "chromium-headless-shell",  # has no windows to draw: a page costs 1.5 s of processor, not 2.5
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
SEES_ALL = """try {
    if (!sessionStorage.getItem("first-visit")) localStorage.setItem("headscope-more", "known");
} catch {}"""
"""Every browser has opened all controls before; but for pages that begin with `FIRST_VISIT`."""
FIRST_VISIT = """try {
    if (!sessionStorage.getItem("first-visit")) localStorage.removeItem("headscope-more");
    sessionStorage.setItem("first-visit", "yes");
} catch {}"""
DESKTOP, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}


@contextmanager
def serve(script: Path = ROOT / "app.py", **environment: str) -> Iterator[str]:
    """The address of a Streamlit server that lives as long as the block."""
    port = free_port()
    with serve_process(port, script, **environment):
        yield f"http://127.0.0.1:{port}"


@contextmanager
def serve_process(
    port: int, script: Path = ROOT / "app.py", **environment: str
) -> Iterator["subprocess.Popen[bytes]"]:
    """The same as a process, for who stops it before; it answers at this port of 127.0.0.1."""
    command = ["streamlit", "run", str(script), "--server.headless", "true"]
    listens = ["--server.address", "127.0.0.1", "--server.port"]
    with _serve([*command, *listens], environment, port) as process:
        yield process


@contextmanager
def serve_module(said: str) -> Iterator[str]:
    """The same for `python -m viz explore script.py:build`."""
    command = ["viz", "explore", said, "--quiet", "--address", "127.0.0.1", "--port"]
    port = free_port()
    with _serve(command, {"OMP_NUM_THREADS": "1"}, port):
        yield f"http://127.0.0.1:{port}"


def free_port() -> int:
    """One that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def _serve(
    command: list[str], environment: dict[str, str], port: int
) -> Iterator["subprocess.Popen[bytes]"]:
    """A module of Python's, with these arguments and the port as the last one."""
    process = subprocess.Popen(
        [sys.executable, "-m", *command, str(port)],
        cwd=ROOT,
        # A page is made beside a server only where a test is about it: that takes half a minute.
        env={"HEADSCOPE_LIVE": "no"} | os.environ | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_until_healthy(f"http://127.0.0.1:{port}/_stcore/health", process)
        yield process
    finally:
        process.terminate()
        process.wait(60)  # on a busy machine, too


def _wait_until_healthy(address: str, process: "subprocess.Popen[bytes]") -> None:
    for _ in range(300):
        if process.poll() is not None:
            raise RuntimeError("the server stopped before it was ready")
        try:
            with urllib.request.urlopen(address, timeout=1):
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError("the server was not ready within a minute")


def browser_path() -> str | None:
    """A browser on PATH; None leaves the choice to Playwright."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def launch(playwright: Playwright, *more: str) -> Browser:
    """Headless Chromium; more: arguments of it. Raises playwright's Error where there is none."""
    arguments = ["--no-sandbox", "--disable-dev-shm-usage", *more]
    browser = playwright.chromium.launch(executable_path=browser_path(), args=arguments)
    new_context = browser.new_context

    def new_context_with_all(**options: Any) -> BrowserContext:
        context = new_context(**options)
        context.add_init_script(SEES_ALL)
        return context

    def new_page(**options: Any) -> Page:
        return new_context_with_all(**options).new_page()

    browser.new_context, browser.new_page = new_context_with_all, new_page  # type: ignore
    return browser


def becomes(read: Callable[[], Any], expected: object) -> None:
    """Assert that what is read is what is expected, soon: a browser draws when it gets to it."""
    deadline = time.monotonic() + 20
    while (found := read()) != expected and time.monotonic() < deadline:
        time.sleep(0.05)
    assert found == expected


ANIMATED = """Promise.all(document.getAnimations()
    .filter((each) => each.timeline instanceof DocumentTimeline)
    .map((each) => each.finished.catch(() => {})))"""
"""What goes by scrolling, and not by time, is never finished."""
UNFINISHED = '[data-stale="true"], [data-testid="stSkeleton"]'
"""What is drawn anew, and what stands for a field whose code is not there yet."""


def painted(page: Page) -> None:
    """Wait until the script has run, nothing is stale, and the code of every field is there: what
    stands in its place before that takes no focus.
    """
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')
    page.wait_for_function(f"!document.querySelector('{UNFINISHED}')")


def at_rest(page: Page) -> None:
    """Wait until nothing moves, either: a sidebar that slides out still takes the focus."""
    painted(page)
    page.evaluate(ANIMATED)
