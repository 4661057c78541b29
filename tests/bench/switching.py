"""From a click on a head until the translation without that head is painted.

Against an empty Streamlit rerun in the same run, as in the screen bench. What a click would give
is asked for while somebody points at the head; so it counts whether they did so for a moment
before they clicked, or clicked in the moment in which they got there. Nothing comes from a cache:
another pair of heads is off each time.
"""

import statistics
from contextlib import ExitStack

from playwright.sync_api import Page, sync_playwright

from tests.bench.bench import Bench, Row
from tests.bench.model import SHIPPED
from tests.bench.screen import APPS, CLOCK, PAUSE, entered_to_painted, until_painted
from tests.browser.server import DESKTOP, launch, painted, serve
from transformer import Checkpoint, decode, load_checkpoint
from transformer.analysis.sweep import heads_off

ROUNDS, CLICKS = 6, 4
METHOD = "beam"
TEXT = "The animal didn't cross the street because it was too tired."
FACTS = ["tokens", "grid"]
ROWS = {
    "head off to translation painted": (PAUSE, "tokens", 2.0),
    "head off to grid painted": (PAUSE, "grid", None),
    "head off at once to translation painted": (0, "tokens", None),
}
"""Milliseconds for which the head is pointed at before, the fact that has to change, the goal."""
Pair = tuple[int, int]


def telling_pairs(checkpoint: Checkpoint, n: int) -> list[Pair]:
    """A head that changes nothing by being off, and one that then changes the translation.

    As their cells in the grid; n different ones.
    """
    heads = list(heads_off(checkpoint))
    plain = decode(checkpoint, TEXT, METHOD).text
    texts = [decode(checkpoint, TEXT, METHOD, edits=[edit]).text for edit in heads]
    quiet = [i for i, text in enumerate(texts) if text == plain]
    found = []
    for second in (i for i, text in enumerate(texts) if text != plain):
        for first in quiet:
            edits = [heads[first], heads[second]]
            if decode(checkpoint, TEXT, METHOD, edits=edits).text != plain:
                found.append((first, second))
            if len(found) == n:
                return found
    raise RuntimeError(f"Only {len(found)} pairs of heads change the translation.")


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


def run(is_quick: bool) -> list[Row]:
    rounds, clicks = (1, 2) if is_quick else (ROUNDS, CLICKS)
    rests = sorted({rest for rest, *_ in ROWS.values()})
    pairs = iter(telling_pairs(load_checkpoint(SHIPPED), len(rests) * rounds * clicks))
    empty: list[float] = []
    switched: dict[int, list[dict[str, float]]] = {rest: [] for rest in rests}
    with ExitStack() as stack:
        servers = [stack.enter_context(serve(APPS / "empty.py", FIRST_TEXT="0"))]
        servers.append(stack.enter_context(serve(HEADSCOPE_CHECKPOINTS=str(SHIPPED.parent))))
        browser = launch(stack.enter_context(sync_playwright()))
        pages = [browser.new_page(viewport=DESKTOP) for _ in servers]
        for page, address in zip(
            pages, (servers[0], f"{servers[1]}/?tool=heads&method={METHOD}"), strict=True
        ):
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
        browser.close()
    floor = statistics.median(empty)
    baseline = f"an empty Streamlit rerun ({floor:.0f} ms)"
    return [
        Row(name, statistics.median(each[fact] for each in switched[rest]) / floor, baseline, goal)
        for name, (rest, fact, goal) in ROWS.items()
    ]


BENCH = Bench("switching", run, needs_browser=True)
