"""Random actions end on the screen that their address describes.

python -m tests.browser.random_actions [--seeds 20] [--first 0] [--actions 200].
"""

import argparse
import random
import time
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Browser, Error, Locator, Page, sync_playwright

from tests.browser.server import DESKTOP, launch, painted, serve

START = "/?checkpoint=copy"
TEXTS = ("2 3 4", "5 5 5 5", "9 8 7 6 5 4 3", "3 11 4 10 5", "2")
SCHEMES = ("light", "dark")
PATIENCE = 30
"""Seconds until both browsers must show the same."""
REACH = 4000
"""Milliseconds within which something must let itself be clicked; else the action is a miss."""

# What a person sees, by the page's own account. Not what is timed, nor what the mouse points at.
FACTS = """() => {
    const all = (selector, root = document) => [
        ...root.querySelectorAll(selector),
        ...[...root.querySelectorAll('*')].filter((node) => node.shadowRoot)
            .flatMap((node) => all(selector, node.shadowRoot)),
    ];
    const seen = (selector, tell) => all(selector).filter((it) => it.checkVisibility()).map(tell);
    const isFact = ([name]) => !name.endsWith('Ms') && name !== 'pointed';
    const told = (data) => Object.entries(data).filter(isFact).sort();
    const text = (node) => node.innerText.trim();
    return {
        page: document.title,
        problems: seen('[data-testid="stException"], [data-testid="stAlert"]', text),
        background: getComputedStyle(document.querySelector('.stApp')).backgroundColor,
        inputs: seen('input', (it) => [it.ariaLabel, it.type, it.value, it.checked]),
        chosen: seen('[role="radio"]', (it) => [text(it), it.ariaChecked]),
        selected: seen('[data-testid="stSelectbox"]', text),
        pictures: seen('[data-nonce]', (it) => [it.className, told(it.dataset)]),
        tokens: seen('.chip', (it) => [text(it), it.ariaPressed, it.ariaCurrent]),
        figures: seen('.js-plotly-plot', (it) => it.layout?.meta?.id),
        texts: seen('[data-testid="stMarkdown"], [data-testid="stCaption"]', text),
        tables: seen('[data-testid="stTable"], [data-testid="stMetric"]', text),
    };
}"""

Action = Callable[[Page, random.Random], None]


def _click_one_of(selector: str) -> Action:
    def act(page: Page, dice: random.Random) -> None:
        _one_of(page.locator(selector).locator("visible=true"), dice).click(timeout=REACH)

    return act


def _one_of(found: Locator, dice: random.Random) -> Locator:
    count = found.count()
    if not count:
        raise Error("nothing of the sort is on this page")
    return found.nth(dice.randrange(count))


def _page(page: Page, dice: random.Random) -> None:
    """Another page, by the navigation."""
    _click_one_of('[data-testid="stTopNavSection"]')(page, dice)
    _click_one_of('[data-testid="stTopNavDropdownLink"]')(page, dice)


def _type(page: Page, dice: random.Random) -> None:
    field = page.get_by_label("Sentence")
    field.fill(dice.choice(TEXTS), timeout=REACH)
    field.press("Enter", timeout=REACH)


def _cell(page: Page, dice: random.Random) -> None:
    """Somewhere in a map."""
    canvas = _one_of(page.locator(".head-map canvas, .decode-player canvas"), dice)
    box = canvas.bounding_box(timeout=REACH) or {"width": 2, "height": 2}
    x, y = (dice.randrange(1, max(2, int(box[side]))) for side in ("width", "height"))
    canvas.click(position={"x": x, "y": y}, timeout=REACH)


def _back(page: Page, dice: random.Random) -> None:
    page.evaluate("() => window.navigation.canGoBack && history.back()")


def _forward(page: Page, dice: random.Random) -> None:
    page.evaluate("() => window.navigation.canGoForward && history.forward()")


def _theme(page: Page, dice: random.Random) -> None:
    page.emulate_media(color_scheme=dice.choice(SCHEMES))


ACTIONS: dict[str, tuple[Action, int]] = {
    "head": (_click_one_of('.head-grid [role="gridcell"]'), 5),
    "token": (_click_one_of(".token-rows .chip"), 4),
    "cell": (_cell, 3),
    "choice": (_click_one_of('[role="radio"]'), 4),
    "type": (_type, 3),
    "back": (_back, 3),
    "forward": (_forward, 2),
    "page": (_page, 3),
    "theme": (_theme, 1),
}
"""What is done, and how often compared with the others."""


def act(page: Page, dice: random.Random, n_actions: int) -> list[str]:
    """Do so many actions, half of them before the page has come to rest; the names of the hits."""
    hits = []
    names, weights = list(ACTIONS), [often for _, often in ACTIONS.values()]
    for name in dice.choices(names, weights, k=n_actions):
        try:
            ACTIONS[name][0](page, dice)
            hits.append(name)
        except Error:  # nothing of the sort is on this page, or it is just being replaced
            pass
        if dice.random() < 0.5:
            painted(page)
    return hits


def differences(browser: Browser, page: Page) -> dict[str, tuple[Any, Any]]:
    """What the page shows otherwise than a fresh browser at its address; empty: nothing."""
    scheme = "dark" if page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") else None
    context = browser.new_context(viewport=DESKTOP, color_scheme=scheme or "light")
    context.set_default_timeout(60_000)
    fresh, deadline = context.new_page(), time.monotonic() + PATIENCE
    try:
        while True:
            painted(page)
            where = page.evaluate("location.href")
            if fresh.url != where:
                fresh.goto(where)
                painted(fresh)
            own, other = page.evaluate(FACTS), fresh.evaluate(FACTS)
            found = {name: (own[name], other[name]) for name in own if own[name] != other[name]}
            if not found or time.monotonic() > deadline:
                return found
            page.wait_for_timeout(200)
    finally:
        context.close()


def main() -> None:
    parser = argparse.ArgumentParser("python -m tests.browser.random_actions")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--actions", type=int, default=200)
    asked = parser.parse_args()
    n_same = 0
    with sync_playwright() as playwright, serve() as address:
        browser = launch(playwright)
        for seed in range(asked.first, asked.first + asked.seeds):
            context = browser.new_context(viewport=DESKTOP)
            context.set_default_timeout(60_000)
            page = context.new_page()
            page.goto(address + START)
            painted(page)
            hits = act(page, random.Random(seed), asked.actions)
            found = differences(browser, page)
            n_same += not found
            print(f"seed {seed}: {len(hits)} hits, {page.url}: {found or 'the same'}", flush=True)
            context.close()
        browser.close()
    print(f"{n_same} of {asked.seeds} end on the screen that their address describes")


if __name__ == "__main__":
    main()
