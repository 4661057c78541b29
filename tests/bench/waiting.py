"""How long a person waits for what is slowest, each against a change of the page in the same run.

That is the way from Explore to Lessons by the navigation: whoever feels that as nothing waits for
so many times as long. No sentence was seen before, and a link opens in a browser that was not
here before.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import permutations
from re import compile
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Page

from tests.bench.bench import BrowserBench, Row
from tests.bench.card import WORDS
from tests.bench.model import SHIPPED
from tests.bench.places import Places
from tests.browser.server import painted

ROUNDS = 3
REST = 4000
"""Milliseconds for which somebody looks at a page before they do anything there."""
THERE = """([selector, n]) => {
    const count = (root) => [...root.querySelectorAll(selector)]
        .filter((node) => node.checkVisibility()).length
        + [...root.querySelectorAll('*')]
            .reduce((sum, node) => sum + (node.shadowRoot ? count(node.shadowRoot) : 0), 0);
    return count(document) >= n;
}"""
GOAL, GOAL_LINK = 6.0, 9.0
"""A second, where the way to Lessons takes 0.16 s; and one and a half, by a link."""
Act = Callable[[], object]
"""What somebody does; it has been prepared."""


def _to(menu: str, title: str, page: Page) -> Act:
    page.get_by_test_id("stTopNavSection").get_by_text(menu, exact=True).click()
    return page.get_by_role("menuitem", name=title).click


def _button(name: str, page: Page) -> Act:
    """name: its end, behind that of its icon."""
    button = page.get_by_role("button", name=compile(f"{name}$")).first
    button.focus()
    return partial(button.press, "Enter")


def _part(name: str, page: Page) -> Act:
    return page.get_by_role("radio", name=name, exact=True).click


def _must_have(page: Page) -> Act:
    typed = page.get_by_label("Must have").first
    typed.fill("Garten")
    return partial(typed.press, "Enter")


@dataclass(frozen=True, eq=False)
class Wait:
    """Something that a person waits for; without an act, from the moment they follow a link."""

    name: str
    begins: str
    """The page, by its name in the address; empty: Explore."""
    act: Callable[[Page], Act] | None
    """Prepares what they do there, and returns what does it."""
    there: str
    """What is there in the end, as a selector; then nothing is drawn any more."""
    n: int = 1
    """The least number of these."""
    query: dict[str, Any] = field(default_factory=dict)
    goal: float | None = GOAL
    is_first: bool = False
    """True: the first value is waited for, and the rest of it is not."""


CHART, TABLE = ".js-plotly-plot .main-svg:first-child", "[data-testid=stDataFrame] canvas"
CARD = {"kind": "cross", "pins": "q1"}
YARDSTICK = Wait("Lessons", "", partial(_to, "Learn", "Lessons"), "a[href*='attention-by-hand']")
TWO = {"checkpoint_b": f"{SHIPPED.name}-1", "kind": "cross"}
ONE = {"heads_of": "one"}
WAITS = (
    Wait("Explore by the menu", "lessons", partial(_to, "Look", "Explore"), ".head-grid .cell"),
    Wait("Compare by the menu", "", partial(_to, "Look", "Compare"), CHART, query=CARD),
    Wait("Compare of two by the menu", "", partial(_to, "Look", "Compare"), TABLE, query=TWO),
    Wait("Compare of two by a link", "compare", None, TABLE, query=TWO, goal=GOAL_LINK),
    Wait(
        "Find a repair: its first result",
        "",
        partial(_button, "Find a repair"),
        "[data-testid=stProgress]",
        query=CARD | {"instead": "Ufer"},
        is_first=True,
    ),
    Wait("Each arrow cut", "", partial(_button, "Each arrow cut"), CHART, query=CARD),
    Wait("Inspect, Tensor", "inspect", partial(_part, "Tensor"), CHART, 2),
    Wait("Why this one won", "decode", partial(_button, "Why this one won"), CHART),
    Wait(
        "Methods side by side",
        "decode",
        partial(_button, "Methods side by side"),
        "a[href*=method_b]",
    ),
    Wait(
        "Written from each encoder layer",
        "decode",
        partial(_button, "Written from each encoder layer"),
        ".text-lines",
    ),
    Wait("Must have", "decode", _must_have, ".st-key-branches .text-lines"),
    Wait("Heads by a link", "heads", None, "[aria-label^='Rows of']", query=ONE, goal=GOAL_LINK),
)


def run(is_quick: bool, places: Places) -> list[Row]:
    begin = places.begin("").removesuffix("?")
    texts = (f"The {a} of the {b} was near the old {c}." for a, b, c in permutations(WORDS, 3))
    times: dict[Wait, list[float]] = {each: [] for each in (YARDSTICK, *WAITS)}
    with places.new_page() as own:
        for _ in range(1 if is_quick else ROUNDS):
            for wait, seconds in times.items():
                query = {"checkpoint": SHIPPED.name, "text": next(texts), **wait.query}
                address = f"{begin}{wait.begins}?{urlencode(query)}"
                if wait.act is None:
                    with places.new_page() as page:
                        seconds.append(_waited(page, wait, partial(page.goto, address)))
                else:
                    own.goto(address)
                    painted(own)
                    own.wait_for_timeout(0 if is_quick else REST)
                    seconds.append(_waited(own, wait, wait.act(own)))
    floor = statistics.median(times.pop(YARDSTICK))
    baseline = f"the way to Lessons ({floor:.2f} s)"
    return [
        Row(f"{wait.name}: {s:.2f} s", s / floor, baseline, wait.goal)
        for wait, seconds in times.items()
        for s in [statistics.median(seconds)]
    ]


def _waited(page: Page, wait: Wait, act: Act) -> float:
    """Seconds until it is there, and nothing is drawn any more."""
    if wait.act is not None and page.evaluate(THERE, [wait.there, wait.n]):
        raise RuntimeError(f"{wait.there} was there before {wait.name}")
    start = time.perf_counter()
    act()
    page.wait_for_function(THERE, arg=[wait.there, wait.n])
    if not wait.is_first:
        painted(page)
    return time.perf_counter() - start


BENCH = BrowserBench("waiting", run)
