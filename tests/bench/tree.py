"""From the Enter key until the tree of a search is painted, of 40 steps with a beam of 8.

Against an empty Streamlit rerun in the same run, as in the screen bench.
"""

import statistics
from contextlib import ExitStack

from playwright.sync_api import Page

from tests.bench.bench import BrowserBench, Row
from tests.bench.places import Places
from tests.bench.screen import CLOCK, entered_to_painted
from tests.browser.server import painted

ROUNDS, SEARCHES = 6, 4
TREE = """() => {
    window.facts.tree = () => {
        for (const node of document.querySelectorAll('.st-key-tree, .st-key-tree *')) {
            const tree = node.shadowRoot?.querySelector('.search-tree');
            if (tree) return tree.dataset.nonce;
        }
    };
}"""


def run(is_quick: bool, places: Places) -> list[Row]:
    rounds, searches = (1, 2) if is_quick else (ROUNDS, SEARCHES)
    times: dict[str, list[float]] = {"empty": [], "tree": []}
    facts = {"empty": "shown", "tree": "tree"}
    with ExitStack() as stack:
        pages = {app: stack.enter_context(places.new_page()) for app in times}
        for app, page in pages.items():
            page.goto(places.address(app))
            painted(page)
            page.evaluate(CLOCK)
            page.evaluate(TREE)
        for turn in range(rounds):
            for app, page in pages.items():
                page.bring_to_front()
                texts = [str(1 + turn * searches + i) for i in range(searches)]
                each = [_painted(page, it, facts[app]) for it in texts]
                times[app] += each[1:]
    floor = statistics.median(times["empty"])
    baseline = f"an empty Streamlit rerun ({floor:.0f} ms)"
    ratio = statistics.median(times["tree"]) / floor
    return [Row("tree of 40 steps x beam 8 painted", ratio, baseline, 2.0)]


def _painted(page: Page, text: str, fact: str) -> float:
    """Milliseconds from Enter to painted; then the nodes beyond the edge are made, too."""
    took = entered_to_painted(page, text, fact)[fact]
    if fact == "tree":
        page.locator(".search-tree .viewport[data-whole]").wait_for()
    return took


BENCH = BrowserBench("tree", run)
