"""Firefox, where there is one, by WebDriver BiDi (W3C).

Playwright speaks it too, but version 1.65 asks each Firefox for a command that the one with
long-term support does not know, and its own Firefox is a download of its own. What the tests
ask is seven commands, so they are said here.
"""

import base64
import itertools
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

NAMES = "firefox-esr", "firefox"
LISTENS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
NEWS = "log.entryAdded", "network.beforeRequestSent"
QUIET = """user_pref("browser.aboutwelcome.enabled", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("app.normandy.enabled", false);
"""
"""Of a profile: nothing is asked, and nothing is told to anybody."""


class Firefox:
    """One tab of it.

    `wrong` has what a page's scripts complained of, `asked` the addresses that it fetched.
    """

    def __init__(self, connection: ClientConnection) -> None:
        self._connection, self._numbers = connection, itertools.count(1)
        self.wrong: list[str] = []
        self.asked: list[str] = []
        self._command("session.new", capabilities={})
        self._command("session.subscribe", events=[*NEWS])
        self._tab = self._command("browsingContext.getTree")["contexts"][0]["context"]

    def goto(self, address: str, width: int, height: int) -> None:
        """Open it in a window of so many pixels, and forget what was heard of the page before."""
        size = {"width": width, "height": height}
        self._command("browsingContext.setViewport", context=self._tab, viewport=size)
        self.wrong, self.asked = [], []
        self._command("browsingContext.navigate", context=self._tab, url=address, wait="complete")

    def evaluate(self, expression: str) -> Any:
        """The value of an expression of JavaScript, or of its promise, that JSON can say.

        Raises RuntimeError.
        """
        said = self._command(
            "script.evaluate",
            expression=f"Promise.resolve({expression}).then((value) => JSON.stringify(value))",
            target={"context": self._tab},
            awaitPromise=True,
        )
        if said["type"] != "success":
            raise RuntimeError(said["exceptionDetails"]["text"])
        return json.loads(said["result"]["value"])

    def press(self, key: str) -> None:
        """A key by its character, as WebDriver writes it: U+E00F is PageDown."""
        strokes = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        keyboard = {"type": "key", "id": "keyboard", "actions": strokes}
        self._command("input.performActions", context=self._tab, actions=[keyboard])

    def screenshot(self) -> bytes:
        """What is seen, as PNG."""
        seen = self._command("browsingContext.captureScreenshot", context=self._tab)
        return base64.b64decode(seen["data"])

    def _command(self, method: str, **values: Any) -> Any:
        number = next(self._numbers)
        self._connection.send(json.dumps({"id": number, "method": method, "params": values}))
        while True:
            said = json.loads(self._connection.recv(60))
            if said["type"] == "event":
                self._hear(said["method"], said["params"])
            elif said["id"] == number:
                if said["type"] == "error":
                    raise RuntimeError(f"{method}: {said['message']}")
                return said["result"]

    def _hear(self, method: str, news: dict[str, Any]) -> None:
        if method == "log.entryAdded":
            self.wrong += [news["text"]] * (news["level"] in ("error", "warn"))
        else:
            self.asked.append(news["request"]["url"])


@contextmanager
def launch_firefox(profile: Path) -> Iterator[Firefox]:
    """Headless, with a profile in an empty folder. Raises FileNotFoundError where there is none."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        raise FileNotFoundError("There is no Firefox on PATH: apt-get install firefox-esr.")
    (profile / "user.js").write_text(QUIET, encoding="utf-8")
    command = [path, "--headless", "--no-remote", "--profile", str(profile)]
    with subprocess.Popen(
        [*command, "--remote-debugging-port", "0"], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        try:
            found = next(filter(None, map(LISTENS.search, process.stderr)))
            with connect(f"{found[1]}/session", max_size=None) as connection:
                yield Firefox(connection)
        finally:
            process.terminate()
