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

import torch
from playwright.sync_api import sync_playwright

from tests.browser.server import DESKTOP, launch
from tests.load.visitor import sentence
from transformer import Checkpoint, decode, load_checkpoint
from transformer.checkpoint import checkpoints_folder
from transformer.decoding import default_method

REACTION = 1.0
"""Seconds from the offer to the click on it: a guess, and the same for everybody."""
SMALL = "en-de-small"
"""The model that may answer first, while the large one comes."""
WAIT = 120_000
"""Milliseconds in which the large model surely has come."""
SHOWN = """async ([text, expected]) => {
    const field = document.getElementById("text"), { dataset } = document.documentElement;
    const frame = () => new Promise((go) => requestAnimationFrame(go));
    const start = performance.now();
    if (text) {
        field.value = text;
        field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    }
    while (!expected.includes(dataset.shown)) {
        if (performance.now() - start > 20000) return null;
        await frame();
    }
    await frame();
    await frame();
    return performance.now() - start;
}"""
"""Types a text, if there is one; gives the milliseconds until one of these answers is painted, and
null where it is not."""
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
    dice = random.Random("alone")
    texts = [sentence(dice) for _ in range(1 + N_OPENED + N_ANSWERS)]
    expected = {text: (written(checkpoint, text), written(SMALL, text)) for text in texts}
    n_wrong, files, opened, answers = 0, list[str](), list[float](), list[float]()
    with sync_playwright() as playwright:
        context = launch(playwright).new_context(viewport=DESKTOP)
        for n, text in enumerate(texts[: N_OPENED + 1]):  # the first one has nothing yet
            page = context.new_page()
            if not n:
                page.on("response", lambda it: files.append(it.url))
            start = time.perf_counter()
            page.goto(f"{address}/live/?{urlencode({'text': text, 'checkpoint': checkpoint})}")
            is_right = page.evaluate(SHOWN, ["", expected[text]]) is not None
            opened += [time.perf_counter() - start] * (is_right and bool(n))
            n_wrong += not is_right
            page.wait_for_selector(f'#model[data-open="{checkpoint}"]', timeout=WAIT)
            if n < N_OPENED:
                page.close()
        for text in texts[N_OPENED + 1 :]:
            took = page.evaluate(SHOWN, [text, expected[text][:1]])
            n_wrong += took is None
            answers += [took / 1e3] if took is not None else []
    paths = [urlsplit(url).path for url in files if url.startswith(address)]
    behind = [each for each in paths if f"/{checkpoint}." in each]
    return Alone([each for each in paths if each not in behind], behind, opened, answers, n_wrong)


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


def written(name: str, text: str) -> str:
    """The answer of a checkpoint, by the public functions."""
    checkpoint = _opened(name)
    target = decode(checkpoint, text, default_method(checkpoint.family.reads)).target
    return checkpoint.tokenizer.decode([token.id for token in target])


@cache
def _opened(name: str) -> Checkpoint:
    torch.set_num_threads(1)
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
