"""From a click on a head until the translation without that head is painted.

Against an empty Streamlit rerun in the same run, as in the screen bench. What a click would give
is asked for while somebody points at the head; so it counts whether they did so for a moment
before they clicked, or clicked in the moment in which they got there. Nothing comes from a cache:
another pair of heads is off each time.
"""

import statistics
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice, product

from playwright.sync_api import Page

from tests.bench.bench import BrowserBench, Row
from tests.bench.model import SHIPPED
from tests.bench.places import Places
from tests.bench.screen import CLOCK, PAUSE, entered_to_painted, until_painted
from tests.browser.server import painted
from transformer import Checkpoint, decode, load_checkpoint
from transformer.analysis.ablation import heads_off

ROUNDS, CLICKS = 6, 4
METHOD = "beam"
TEXT = "The teacher gave the best mark to the shortest essay."
"""21 of the shipped model's heads change its translation by being off; that of the first example
none does."""
FACTS = ["tokens", "grid"]
ROWS = {
    "head off to translation painted": (PAUSE, "tokens", 2.0),
    "head off to grid painted": (PAUSE, "grid", None),
    "head off at once to translation painted": (0, "tokens", None),
}
"""Milliseconds for which the head is pointed at before, the fact that has to change, the goal."""
Pair = tuple[int, int]


def telling_pairs(checkpoint: Checkpoint) -> Iterator[Pair]:
    """A head that changes nothing by being off, and one that then changes the translation.

    As their cells in the grid; each pair once, as soon as it is found.
    """
    heads = list(heads_off(checkpoint))

    def text(*cells: int) -> str:
        edits = [heads[cell] for cell in cells]
        return decode(checkpoint, TEXT, METHOD, edits=edits).text

    plain = text()
    quiet: list[int] = []
    telling: list[int] = []
    for i in range(len(heads)):
        is_quiet = text(i) == plain
        (quiet if is_quiet else telling).append(i)
        pairs = product([i], telling) if is_quiet else product(quiet, [i])
        yield from (pair for pair in pairs if text(*pair) != plain)


def pressed(page: Page, i: int, facts: list[str], rest: int = PAUSE) -> dict[str, float]:
    """Milliseconds from the key that switches the i-th head until each fact has changed.

    rest: for how long it has the focus before.
    """
    cell = page.locator(".head-grid .cell").nth(i)
    cell.focus()
    page.wait_for_timeout(rest)
    milliseconds = until_painted(page, facts, lambda: page.keyboard.press("Enter"))
    painted(page)
    return milliseconds


def switched_to_painted(page: Page, pair: Pair, rest: int) -> dict[str, float]:
    """Of the second of two heads; both are on again."""
    first, second = pair
    pressed(page, first, ["grid"])
    page.wait_for_timeout(PAUSE)
    milliseconds = pressed(page, second, FACTS, rest)
    pressed(page, second, FACTS)
    pressed(page, first, ["grid"])
    return milliseconds


def run(is_quick: bool, places: Places) -> list[Row]:
    rounds, clicks = (1, 2) if is_quick else (ROUNDS, CLICKS)
    rests = sorted({rest for rest, *_ in ROWS.values()})
    n_pairs = len(rests) * rounds * clicks
    found = list(islice(telling_pairs(load_checkpoint(SHIPPED)), n_pairs))
    if len(found) < n_pairs:
        raise RuntimeError(f"Only {len(found)} pairs of heads change the translation.")
    pairs = iter(found)
    empty: list[float] = []
    switched: dict[int, list[dict[str, float]]] = {rest: [] for rest in rests}
    with ExitStack() as stack:
        pages = [stack.enter_context(places.new_page()) for _ in range(2)]
        query = {"checkpoint": SHIPPED.name, "text": TEXT, "decoding": METHOD, "tool": "heads"}
        app = places.address("", **query)
        for page, address in zip(pages, (places.address("empty"), app), strict=True):
            page.goto(address)
            painted(page)
            page.evaluate(CLOCK)
        for turn in range(rounds):
            pages[0].bring_to_front()
            texts = [str(1 + turn * clicks + i) for i in range(clicks)]
            empty += [entered_to_painted(pages[0], text, "shown")["shown"] for text in texts][1:]
            pages[1].bring_to_front()
            for rest in rests:
                times = [switched_to_painted(pages[1], next(pairs), rest) for _ in range(clicks)]
                switched[rest] += times[1:]
    floor = statistics.median(empty)
    baseline = f"an empty Streamlit rerun ({floor:.0f} ms)"
    return [
        Row(name, statistics.median(each[fact] for each in switched[rest]) / floor, baseline, goal)
        for name, (rest, fact, goal) in ROWS.items()
    ]


BENCH = BrowserBench("switching", run)
