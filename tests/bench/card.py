"""From a pin until the card of the pinned word is painted, of a sentence that nobody has seen.

Against an empty Streamlit rerun in the same run, as in the screen bench. The first pin of a
sentence hides each of its words; a second one has all that it needs.
"""

import statistics
from contextlib import ExitStack

from playwright.sync_api import Page

from tests.bench.bench import BrowserBench, Row
from tests.bench.model import SHIPPED
from tests.bench.places import Places
from tests.bench.screen import CLOCK, PAUSE, entered_to_painted, until_painted
from tests.browser.server import painted

ROUNDS, SENTENCES = 6, 4
WORDS = ("bank", "cat", "dog", "teacher", "house", "river", "garden", "window", "door", "child")
PLACES = ("river", "street", "garden", "mountain", "house", "station", "market", "lake", "tree")
CARD = """() => {
    window.facts.card = () => [...document.querySelectorAll('.st-key-word-card *')]
        .find((node) => node.shadowRoot)
        ?.shadowRoot.querySelector('.tables .title')?.textContent;
}"""
ROWS = {"first": ("pinned to card painted", 2.0), "next": ("the next pin to its card", None)}
"""The pin of a sentence -> the name of its row, and the goal."""


def run(is_quick: bool, places: Places) -> list[Row]:
    rounds, sentences = (1, 2) if is_quick else (ROUNDS, SENTENCES)
    texts = [f"The {a} at the {b} was full of flowers." for a in WORDS for b in PLACES if a != b]
    empty: list[float] = []
    pinned: dict[str, list[float]] = {name: [] for name in ROWS}
    with ExitStack() as stack:
        pages = [stack.enter_context(places.new_page()) for _ in range(2)]
        app = places.address("", checkpoint=SHIPPED.name, kind="cross", text=texts.pop())
        for page, address in zip(pages, (places.address("empty"), app), strict=True):
            page.goto(address)
            painted(page)
            page.evaluate(CLOCK)
        pages[1].evaluate(CARD)
        for turn in range(rounds):
            pages[0].bring_to_front()
            numbers = [str(1 + turn * sentences + i) for i in range(sentences)]
            empty += [entered_to_painted(pages[0], it, "shown")["shown"] for it in numbers][1:]
            pages[1].bring_to_front()
            times = [pins_to_painted(pages[1], texts.pop()) for _ in range(sentences)][1:]
            for name in ROWS:
                pinned[name] += [each[name] for each in times]
    floor = statistics.median(empty)
    baseline = f"an empty Streamlit rerun ({floor:.0f} ms)"
    return [
        Row(title, statistics.median(pinned[name]) / floor, baseline, goal)
        for name, (title, goal) in ROWS.items()
    ]


def pins_to_painted(page: Page, text: str) -> dict[str, float]:
    """Milliseconds from the key that pins a word of a new sentence, and then another, to its card.

    All pins are gone again.
    """
    entered_to_painted(page, text, "tokens")
    page.wait_for_timeout(PAUSE)
    times = {name: pin(page, i) for name, i in (("first", 1), ("next", 4))}
    for i in (1, 4):
        page.locator('.token-rows [data-side="target"]').nth(i).press("Enter")
        painted(page)
    return times


def pin(page: Page, i: int) -> float:
    """Milliseconds from the key to the card, of the i-th token that is written."""
    page.locator('.token-rows [data-side="target"]').nth(i).focus()
    page.wait_for_timeout(PAUSE)
    milliseconds = until_painted(page, ["card"], lambda: page.keyboard.press("Enter"))
    painted(page)
    return milliseconds["card"]


BENCH = BrowserBench("card", run)
