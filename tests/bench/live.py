"""The page that needs no server, beside the app: a letter typed, a text asked again, memory.

Both translate the same sentences by beam search, in turn; each is new to both. The time is from the
key of the last letter to two frames after the grid of all heads has changed.
"""

import os
import statistics
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

from playwright.sync_api import Page

from tests.bench.bench import BrowserBench, Row
from tests.bench.places import Places
from tests.bench.screen import CLOCK, typed_to_painted, until_painted
from tests.browser.hosted import hosted
from tests.browser.server import painted
from transformer import decode, load_checkpoint, record
from viz.commands.site import page_words
from viz.live.site import build

NAME = "en-de"
WHO = ("The old man", "A young girl", "My sister", "The small dog", "Our teacher", "The cat")
WHAT = (
    "found the key in the garden of the house",
    "did not buy the big red car yesterday",
    "wants to go to school with the children",
    "has never seen such a beautiful old town",
)
LONG = "because the weather was very bad and nobody wanted to wait outside for the last train home"
AGAIN = 100
"""Milliseconds within which a text that was asked before is there."""
MEMORY = 200
"""MB of the page's process, with the large model open."""


def run(is_quick: bool, places: Places) -> list[Row]:
    texts = [f"{who} {what}." for what in WHAT for who in WHO][: 3 if is_quick else None]
    checkpoint = load_checkpoint(NAME)
    with (
        tempfile.TemporaryDirectory() as folder,
        places.new_page() as app,
        hosted(Path(folder)) as host,
    ):
        site = build([checkpoint], Path(folder), page_words())
        sent = sum(size for name, size in site.files.items() if not name.endswith(".md"))
        app.goto(places.address("", checkpoint=NAME))
        painted(app)
        others = set(_renderers())
        with places.new_page() as page:
            page.goto(f"{host}?checkpoint={NAME}")
            page.wait_for_selector(f'#model[data-open="{NAME}"]')
            for each in (page, app):
                each.evaluate(CLOCK)
            times: dict[Page, list[float]] = {page: [], app: []}
            for i, text in enumerate(texts):
                for each in (page, app) if i % 2 else (app, page):
                    each.bring_to_front()
                    times[each].append(_typed(each, text, is_app=each is app))
            own, other = (statistics.median(times[it][1:]) for it in (page, app))
            again = statistics.median(_again(page, text) for text in texts[-3:])
            ratios = [_beam(page, checkpoint, text) for text in texts[: 1 if is_quick else 8]]
            memory = sum(mb for process, mb in _renderers().items() if process not in others)
    return [
        Row("live: typed to grid painted", own / other, f"the app ({other:.0f} ms)", 0.85),
        Row("live: a text asked before", again / AGAIN, f"{AGAIN} ms ({again:.0f} ms)", 1),
        Row(
            "live: beam of 4, 25 words",
            statistics.median(ratios),
            "decode and record in Python, one thread",
            1.2,
        ),
        Row("live: memory of the page", memory / MEMORY, f"{MEMORY} MB ({memory:.0f} MB)", 1),
        Row("live: bytes of a first visit", None, f"{sent / 1e6:.1f} MB with {NAME}"),
    ]


def _typed(page: Page, text: str, is_app: bool) -> float:
    if is_app:
        return typed_to_painted(page, text, "grid")["grid"]
    field = page.get_by_label("Sentence", exact=True)
    answered = page.locator("html").get_attribute("data-answered")
    field.fill(text[:-1])
    page.wait_for_function(
        "(before) => document.documentElement.dataset.answered !== before", arg=answered
    )
    page.wait_for_timeout(250)
    took = until_painted(page, ["grid"], lambda: page.keyboard.press(text[-1]))["grid"]
    page.wait_for_timeout(250)
    return took


def _again(page: Page, text: str) -> float:
    """Milliseconds until it is there once more."""
    page.get_by_label("Sentence", exact=True).fill(text[:-1])
    page.wait_for_timeout(250)
    return until_painted(page, ["grid"], lambda: page.keyboard.press(text[-1]))["grid"]


def _beam(page: Page, checkpoint: Any, text: str) -> float:
    """How many times as long as Python the browser takes for one long sentence, new to both."""
    long = f"{text[:-1]} {LONG}."
    own: float = page.evaluate(
        """async (text) => {
            const start = performance.now();
            await headscope.answer(text, { method: "beam" });
            return performance.now() - start;
        }""",
        long,
    )
    start = perf_counter()
    record(checkpoint, long, decode(checkpoint, long, method="beam").target)
    return own / (1000 * (perf_counter() - start))


def _renderers() -> dict[int, float]:
    """Process of ours that draws pages -> its MB, with its part of what it shares (PSS)."""
    processes = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if b"--type=renderer" not in (folder / "cmdline").read_bytes():
                continue
            if not _is_ours(int(folder.name)):
                continue
            lines = (folder / "smaps_rollup").read_text().splitlines()
        except OSError:  # it has ended
            continue
        pss = (int(line.split()[1]) for line in lines if line.startswith("Pss:"))
        processes[int(folder.name)] = next(pss, 0) / 1000
    return processes


def _is_ours(process: int) -> bool:
    """Tell whether this process began it, or one that it began."""
    while process > 1 and process != os.getpid():
        status = Path(f"/proc/{process}/stat").read_text()
        process = int(status.rpartition(")")[2].split()[1])
    return process == os.getpid()


BENCH = BrowserBench("live", run)
