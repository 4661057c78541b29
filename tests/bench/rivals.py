"""Bytes sent and time to painted for our grid and head view, beside BertViz on the same weights.

Ours: from Enter in a Streamlit app, over the weights, their packing and the websocket, to painted.
BertViz: its page made and painted, from a file, without a transfer. It is not tried where its pages
would need many GiB of memory: there its bytes are extrapolated and its time is that of the longest
text that was tried, which is less; the rows say so.
"""

import statistics
from dataclasses import dataclass

from playwright.sync_api import Page

from tests.bench import bertviz_page
from tests.bench.attention import random_map
from tests.bench.bench import BrowserBench, Row
from tests.bench.bertviz_page import Shown
from tests.bench.places import Places
from tests.bench.screen import CLOCK, entered_to_painted
from tests.browser.server import painted

SIZES, ROUNDS, ALLOWED = (16, 64, 128, 256, 512), 5, 120
RIVALS = {"heads": "head_view", "grid": "model_view"}
"""Our view, by its name in apps/views.py -> BertViz's."""
TRIED = {"head_view": 128, "model_view": 64}
"""The most tokens that a view of BertViz is tried with."""
GOALS = {("bytes", 128): 0.01, ("seconds", 128): 0.1}
LONGEST, SECONDS = 512, 3
"""Where BertViz cannot load, ours must be painted within SECONDS."""


@dataclass(frozen=True)
class Ours:
    """What a view of ours cost: medians over rounds."""

    n_bytes: float
    seconds: float


def run(is_quick: bool, places: Places) -> list[Row]:
    sizes, rounds = (SIZES[:1], 1) if is_quick else (SIZES, ROUNDS)
    rows = []
    with places.new_page() as page:
        received = _open(page, places.address("views"))
        for view, rival in RIVALS.items():
            theirs: dict[int, Shown] = {}
            for n in sizes:
                ours = _ours(page, received, view, n, rounds)
                if bertviz_page.why_not() is None and n <= TRIED[rival]:
                    theirs[n] = bertviz_page.show(places, rival, random_map(n), ALLOWED)
                rows += [_bytes(view, n, ours, theirs), _seconds(page, view, n, ours, theirs)]
    return rows


def _open(page: Page, address: str) -> list[int]:
    """Show our app; the sizes of what its websocket brings, which grow."""
    received: list[int] = []
    page.on(
        "websocket",
        lambda socket: socket.on("framereceived", lambda frame: received.append(len(frame))),
    )
    page.goto(address)
    painted(page)
    page.evaluate(CLOCK)
    return received


def _ours(page: Page, received: list[int], view: str, n: int, rounds: int) -> Ours:
    n_bytes, milliseconds = [], []
    for turn in range(rounds + 1):
        received.clear()
        milliseconds.append(entered_to_painted(page, f"{view} {n} {turn}", view)[view])
        n_bytes.append(sum(received))
    # The first round makes the weights and warms up.
    return Ours(statistics.median(n_bytes[1:]), statistics.median(milliseconds[1:]) / 1000)


def _bytes(view: str, n: int, ours: Ours, theirs: dict[int, Shown]) -> Row:
    name = f"{view}, {n} tokens: {ours.n_bytes / 1e6:.2f} MB"
    if not theirs:
        return Row(name, None, f"BertViz was left out: {bertviz_page.why_not()}")
    n_bytes = _page_bytes(n, theirs)
    extrapolated = "" if n in theirs else ", extrapolated"
    baseline = f"BertViz {RIVALS[view]} ({n_bytes / 1e6:,.1f} MB{extrapolated})"
    return Row(name, ours.n_bytes / n_bytes, baseline, GOALS.get(("bytes", n)))


def _seconds(page: Page, view: str, n: int, ours: Ours, theirs: dict[int, Shown]) -> Row:
    name, rival = f"{view}, {n} tokens, painted: {ours.seconds:.2f} s", f"BertViz {RIVALS[view]}"
    goal = GOALS.get(("seconds", n))
    if n == LONGEST:
        end = f", where {rival} {_why_not(page, n, theirs)}"
        return Row(name, ours.seconds / SECONDS, f"{SECONDS} s{end}", 1.0)
    if not theirs:
        return Row(name, None, f"{rival} {_why_not(page, n, theirs)}")
    # A text that BertViz was not tried with takes it longer than the longest that it was.
    tried = min(n, max(theirs))
    seconds = theirs[tried].seconds
    if seconds is None:
        text = f"{rival}, which did not load {tried} tokens within {ALLOWED} s"
        return Row(name, ours.seconds / ALLOWED, text, goal)
    text = f"{rival} ({seconds:.1f} s)"
    if tried < n:
        text = f"{rival} at {tried} tokens ({seconds:.1f} s); {n} {_why_not(page, n, theirs)}"
    return Row(name, ours.seconds / seconds, text, goal)


def _why_not(page: Page, n: int, theirs: dict[int, Shown]) -> str:
    """What is said of a text that BertViz was not tried with."""
    if not theirs:
        return f"was left out: {bertviz_page.why_not()}"
    n_bytes = _page_bytes(n, theirs)
    size = f"{n_bytes / 1e6:,.0f} MB, extrapolated"
    if _can_hold(page, n_bytes):
        return f"were not tried: {size}"
    return f"cannot load: its script ({size}) is longer than the browser's longest string"


def _can_hold(page: Page, n: int) -> bool:
    """Whether this browser has strings of n characters: a page's script is one."""
    hold = "n => { try { return 'x'.repeat(n).length === n; } catch { return false; } }"
    return bool(page.evaluate(hold, n))


def _page_bytes(n: int, theirs: dict[int, Shown]) -> int:
    """A page's size, else that of the largest known one for as many weights."""
    if n in theirs:
        return theirs[n].n_bytes
    known = max(theirs)
    return round(theirs[known].n_bytes * n**2 / known**2)


BENCH = BrowserBench("rivals", run)
