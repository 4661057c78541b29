"""The first screen is seen before any script has come."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.server import DESKTOP
from tests.browser.test_app import SENTENCE

pytestmark = pytest.mark.browser


def test_without_a_script_the_first_picture_is_seen(browser: Browser, address: str) -> None:
    context = browser.new_context(viewport=DESKTOP, java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    expect(page.get_by_text(SENTENCE)).to_be_visible()
    expect(page.locator("#first-picture svg text").first).to_be_visible()
    assert page.title() == "Headscope"
    context.close()


def test_the_live_picture_takes_its_place(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_selector(".head-view[data-nonce], .head-grid[data-nonce]")
    expect(page.locator("#first-picture")).to_have_count(0)
