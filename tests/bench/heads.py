"""From the choice of a head on the page Heads until its rows are painted, of the shipped survey.

Against an empty Streamlit rerun in the same run, as in the screen bench. Each head is new to its
page: nothing of it was drawn before.
"""

import statistics
from contextlib import ExitStack
from urllib.parse import urlencode

from playwright.sync_api import Page

from tests.bench.bench import BrowserBench, Row
from tests.bench.model import SHIPPED
from tests.bench.places import Places
from tests.bench.screen import CLOCK, PAUSE, entered_to_painted, until_painted
from tests.browser.server import painted

ROUNDS, HEADS, N_HEADS = 2, 3, 8
GOAL = 2.0
HEAD = """() => {
    window.facts.head = () => [...document.querySelectorAll('[aria-label^="Rows of"]')]
        .find((rows) => rows.checkVisibility())?.ariaLabel;
}"""
HEADS_OF_LAYER = 'nav[aria-label="Heads"] a:visible'


def run(is_quick: bool, places: Places) -> list[Row]:
    rounds, heads = (1, 2) if is_quick else (ROUNDS, HEADS)
    empty: list[float] = []
    chosen: list[float] = []
    query = {
        "checkpoint": SHIPPED.name,
        "heads_of": "one",
        "kind": "cross",
        "layer": 0,
        "head": N_HEADS - 1,
    }
    address = f"{places.begin('').removesuffix('?')}heads?{urlencode(query)}"
    with ExitStack() as stack:
        pages = [stack.enter_context(places.new_page()) for _ in range(2)]
        for page, at in zip(pages, (places.address("empty"), address), strict=True):
            page.goto(at)
            painted(page)
            page.evaluate(CLOCK)
        pages[1].locator("[aria-label^='Rows of']").first.wait_for()
        pages[1].evaluate(HEAD)
        for turn in range(rounds):
            pages[0].bring_to_front()
            numbers = [str(1 + turn * heads + i) for i in range(heads)]
            empty += [entered_to_painted(pages[0], it, "shown")["shown"] for it in numbers][1:]
            pages[1].bring_to_front()
            chosen += [choose(pages[1], turn * heads + i) for i in range(heads)][1:]
    floor = statistics.median(empty)
    baseline = f"an empty Streamlit rerun ({floor:.0f} ms)"
    return [
        Row("head chosen to its rows painted", statistics.median(chosen) / floor, baseline, GOAL)
    ]


def choose(page: Page, head: int) -> float:
    """Milliseconds from the key that follows the link of a head to its rows."""
    page.locator(HEADS_OF_LAYER).nth(head).focus()
    page.wait_for_timeout(PAUSE)
    milliseconds = until_painted(page, ["head"], lambda: page.keyboard.press("Enter"))
    painted(page)
    page.wait_for_timeout(PAUSE)
    return milliseconds["head"]


BENCH = BrowserBench("heads", run)
