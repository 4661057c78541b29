"""From a click on a head until the translation without that head is painted.

Against an empty Streamlit rerun in the same run, as in the screen bench.
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
ROWS = {
    "head off to translation painted": ("tokens", 2.0),
    "head off to grid painted": ("grid", None),
}
"""The fact that has to change, and the goal."""


def telling_heads(checkpoint: Checkpoint) -> list[int]:
    """Which heads change the translation when one is off: their cells in the grid."""
    plain = decode(checkpoint, TEXT, METHOD).text
    texts = [decode(checkpoint, TEXT, METHOD, edits=[edit]).text for edit in heads_off(checkpoint)]
    found = [i for i, text in enumerate(texts) if text != plain]
    if not found:
        raise RuntimeError("No head changes the translation alone.")
    return found


def switched_to_painted(page: Page, i: int) -> dict[str, float]:
    """Milliseconds from the key that switches the i-th head off, for each fact; it is on again."""
    cell = page.locator(".head-grid .cell").nth(i)
    cell.focus()
    page.wait_for_timeout(PAUSE)
    facts = [fact for fact, _ in ROWS.values()]
    milliseconds = until_painted(page, facts, lambda: page.keyboard.press("Enter"))
    painted(page)
    cell.focus()
    until_painted(page, facts, lambda: page.keyboard.press("Enter"))
    painted(page)
    return milliseconds


def run(is_quick: bool) -> list[Row]:
    rounds, clicks = (1, 2) if is_quick else (ROUNDS, CLICKS)
    empty, switched, telling = [], [], telling_heads(load_checkpoint(SHIPPED))
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
            heads = [telling[(turn * clicks + i) % len(telling)] for i in range(clicks)]
            switched += [switched_to_painted(pages[1], i) for i in heads][1:]
        browser.close()
    floor = statistics.median(empty)
    baseline = f"an empty Streamlit rerun ({floor:.0f} ms)"
    return [
        Row(name, statistics.median(each[fact] for each in switched) / floor, baseline, goal)
        for name, (fact, goal) in ROWS.items()
    ]


BENCH = Bench("switching", run, needs_browser=True)
