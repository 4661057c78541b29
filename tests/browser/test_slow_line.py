"""With a second between browser and server, no click is ever taken back."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import painted
from tests.browser.slow_line import SlowLine, slow_line
from tests.representatives import thorough

pytestmark = pytest.mark.browser

ONE_WAY = 0.5
"""Seconds: one there and back."""
PACE = 200
"""Milliseconds between two clicks of a person: so that answers to older ones come in between."""
WATCH = """([selector, name]) => {
    const node = document.querySelector(selector) ?? [...document.querySelectorAll("*")]
        .map((each) => each.shadowRoot?.querySelector(selector)).find(Boolean);
    window.seen = [node.getAttribute(name)];
    new MutationObserver(() => {
        const now = node.getAttribute(name);
        if (now !== window.seen.at(-1)) window.seen.push(now);
    }).observe(node, { attributeFilter: [name] });
}"""
"""Keep every value that an attribute ever has."""


@pytest.fixture(params=[thorough("head_grid"), thorough("head_map"), "head_view"])
def script(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def line(apps: str) -> Iterator[SlowLine]:
    with slow_line(apps) as line:
        yield line


def click_heads(page: Page) -> None:
    for index in (3, 13, 5, 3):
        page.get_by_role("gridcell").nth(index).click()
        page.wait_for_timeout(PACE)
    page.get_by_label("Show", exact=True).select_option("entropy")
    page.get_by_role("gridcell").nth(7).click()


def click_cells(page: Page) -> None:
    box = page.locator(".head-map .stage").bounding_box()
    plot = (page.locator(".head-map").get_attribute("data-plot") or "").split(",")
    x, y, width, height = map(float, plot)
    assert box is not None
    for row, column in ((1, 1), (4, 2), (2, 5), (1, 1), (5, 5)):
        page.mouse.click(
            box["x"] + x + width * (column + 0.5) / 7, box["y"] + y + height * (row + 0.5) / 6
        )
        page.wait_for_timeout(PACE)


def click_tokens(page: Page) -> None:
    for token in ("q5", "k3", "q1", "q5", "q7"):
        page.locator(f'[data-token="{token}"]').click()
        page.wait_for_timeout(PACE)


CASES: dict[str, tuple[str, str, str, Callable[[Page], None], list[str], str]] = {
    "head_grid": (
        "",
        ".head-grid",
        "data-selected",
        click_heads,
        [f"encoder_self,{at}" for at in ("1,2", "0,3", "1,5", "0,5", "0,3", "0,7")],
        "told (0, 7) ('entropy', 'layer', 0)",
    ),
    "head_map": (
        "of=6x7",
        ".head-map",
        "data-selected",
        click_cells,
        ["", "1,1", "4,2", "2,5", "1,1", "5,5"],
        "chosen (5, 5), region None",
    ),
    "head_view": (
        "",
        ".head-view",
        "data-pins",
        click_tokens,
        ["", "q5", "q5,k3", "q5,k3,q1", "k3,q1", "k3,q1,q7"],
        "[3] ['k3', 'q1', 'q7']",
    ),
}


def test_clicks_in_quick_succession_are_never_taken_back(
    script: str, line: SlowLine, page: Page
) -> None:
    query, selector, attribute, click, expected, told = CASES[script]
    page.goto(f"{line.address}/?app={script}&{query}")
    page.wait_for_selector(f"{selector}[data-nonce]")
    painted(page)
    page.evaluate(WATCH, [selector, attribute])
    line.delay = ONE_WAY
    click(page)
    expect(page.get_by_text(told)).to_be_visible()
    painted(page)
    assert page.evaluate("window.seen") == expected
