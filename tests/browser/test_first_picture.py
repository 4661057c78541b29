"""The first screen is seen before any script has come."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.server import DESKTOP, becomes
from tests.browser.test_app import SENTENCE
from tests.representatives import cases

pytestmark = pytest.mark.browser


def test_without_a_script_the_first_picture_is_seen(browser: Browser, address: str) -> None:
    context = browser.new_context(viewport=DESKTOP, java_script_enabled=False)
    page = context.new_page()

    def pictures() -> int:
        page.goto(address)
        return page.locator("#first-picture svg").count()

    becomes(pictures, 1)  # a server that has just begun makes it
    expect(page.get_by_text(SENTENCE)).to_be_visible()
    expect(page.locator("#first-picture svg text").first).to_be_visible()
    assert page.title().endswith(" … – Explore – Headscope")
    context.close()


def test_the_live_picture_takes_its_place(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_selector(".head-view[data-nonce], .head-grid[data-nonce]")
    expect(page.locator("#first-picture")).to_have_count(0)


def test_a_shared_link_is_no_blank_page_without_a_script(browser: Browser, address: str) -> None:
    context = browser.new_context(viewport=DESKTOP, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/decode?text=I+see+a+dog.")
    expect(page.get_by_text("I see a dog.")).to_be_visible()
    expect(page.get_by_text("Loading the app")).to_be_visible()
    context.close()


PAGES = [
    ("decode?text=It+rains.", ".decode-player[data-nonce]"),
    ("gallery", ".cards"),
    ("why_attention", ".js-plotly-plot"),
    ("inspect", "[data-testid=stMetric], table, ul"),
]
FEW = {"a page without a picture of ours has run": PAGES[1]}
"""It goes where a picture is drawn, as on Explore, or the script has run without one."""


@pytest.mark.parametrize(("path", "shown"), cases(PAGES, FEW))
def test_every_page_takes_the_place_of_what_is_seen_before(
    page: Page, address: str, path: str, shown: str
) -> None:
    page.goto(f"{address}/{path}")
    expect(page.get_by_test_id("stMain").locator(shown).first).to_be_visible()
    expect(page.locator("#first-picture")).to_have_count(0)
