"""The page that a server hands over to: what a browser fetches of it, and how long it takes alone.

Each visitor has a processor of their own, and a crowd on this machine has not. So one browser does
all of it before the crowd comes, while nobody else asks for anything; a visitor of the crowd who
takes the offer fetches the same files from the server, and waits then as long as one of these.
"""

import asyncio
import random
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from urllib.parse import urlencode, urlsplit

from playwright.sync_api import Page, sync_playwright

from tests.browser.server import DESKTOP, launch
from tests.load.visitor import sentence
from transformer import Checkpoint, decode, load_checkpoint
from transformer.checkpoint import checkpoints_folder
from transformer.decoding import default_method

REACTION = 1.0
"""Seconds from the offer to the click on it: a guess, and the same for everybody."""
SMALL = "en-de-small"
"""The model that answers first, while the large one comes."""
N_OPENED, N_ANSWERS = 5, 100
MAKING = 300.0
"""Seconds in which a server surely has made the page."""
CHUNK = 2**18


@dataclass(frozen=True)
class Alone:
    """What one browser saw that had the machine for itself."""

    first: Sequence[str]
    """The paths of the files that a first visit fetches until it answers."""
    behind: Sequence[str]
    """Those that come behind, of the large model."""
    opened: Sequence[float]
    """Seconds from the click to the first answer, of a browser that has the files."""
    answers: Sequence[float]
    """Seconds from the last letter of a text to its pictures, in a page that is open."""
    n_wrong: int
    """Answers that are other than Python's."""


def measure(address: str, checkpoint: str) -> Alone:
    """Open the page of the server in a browser, once it is made, and let it answer."""
    wait_until_made(address)
    dice, wrong = random.Random("alone"), 0
    with sync_playwright() as playwright:
        context = launch(playwright).new_context(viewport=DESKTOP)
        fetched: list[tuple[str, float]] = []
        context.on("response", lambda it: fetched.append((it.url, time.perf_counter())))
        opened, texts = [], [sentence(dice) for _ in range(N_OPENED + 1)]
        for n, text in enumerate(texts):
            page = context.new_page()
            start = time.perf_counter()
            page.goto(f"{address}/live/?{urlencode({'text': text, 'checkpoint': checkpoint})}")
            page.wait_for_function("() => document.documentElement.dataset.answered")
            took = time.perf_counter() - start
            by = page.locator("#model").get_attribute("data-open") or ""
            wrong += _shown(page) not in (written(by, text), written(checkpoint, text))
            page.wait_for_selector(f'#model[data-open="{checkpoint}"]')
            if n:
                opened.append(took)
            else:
                files = [urlsplit(url).path for url, _ in fetched if url.startswith(address)]
            if n < N_OPENED:
                page.close()
        answers = []
        for _ in range(N_ANSWERS):
            text = sentence(dice)
            answers.append(_answered(page, text))
            wrong += _shown(page) != written(checkpoint, text)
    behind = [each for each in files if f"/{checkpoint}." in each]
    return Alone([each for each in files if each not in behind], behind, opened, answers, wrong)


def wait_until_made(address: str) -> None:
    """Ask for the page until it is there. Raises TimeoutError."""
    deadline = time.monotonic() + MAKING
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{address}/live/"):
                return
        except urllib.error.HTTPError as error:
            if error.code != 503:
                raise
        time.sleep(1)
    raise TimeoutError("The server has made no page.")


def _shown(page: Page) -> str | None:
    return page.locator("html").get_attribute("data-shown")


def _answered(page: Page, text: str) -> float:
    before = page.locator("html").get_attribute("data-answered")
    page.get_by_label("Sentence", exact=True).fill(text)
    page.wait_for_function(
        "(before) => document.documentElement.dataset.answered !== before", arg=before
    )
    return float(page.locator("html").get_attribute("data-painted") or "nan") / 1e3


def written(name: str, text: str) -> str:
    """The answer of a checkpoint, by the public functions."""
    checkpoint = _opened(name)
    target = decode(checkpoint, text, default_method(checkpoint.family.reads)).target
    return checkpoint.tokenizer.decode([token.id for token in target])


@cache
def _opened(name: str) -> Checkpoint:
    return load_checkpoint(checkpoints_folder() / name, "cpu")


async def fetch(address: str, path: str) -> int:
    """Get a file as a browser does; its bytes on the line, without headers. Raises OSError."""
    parts = urlsplit(address)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port, limit=CHUNK)
    asked = f"GET {path} HTTP/1.1\r\nHost: {parts.netloc}\r\nAccept: */*\r\n"
    writer.write(f"{asked}Accept-Encoding: gzip\r\nConnection: close\r\n\r\n".encode())
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    if " 200 " not in head.partition("\r\n")[0]:
        raise OSError(f"{path}: {head.partition(chr(13))[0]}")
    n = 0
    while content := await reader.read(CHUNK):
        n += len(content)
    writer.close()
    return n
