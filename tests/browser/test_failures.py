"""What fails is said in a sentence below the header, with a link to the last good screen."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import ROOT, becomes, painted, serve
from tests.browser.test_app import go_to, open_app, parameter

pytestmark = pytest.mark.browser
APP = Path(__file__).parent / "apps" / "failing.py"


@pytest.fixture(scope="module")
def failing() -> Iterator[str]:
    """The address of the app that fails. It ends after the page, which would report it."""
    with serve(APP, PYTHONPATH=str(ROOT)) as address:
        yield address


def test_a_page_that_fails_offers_the_last_good_screen(page: Page, failing: str) -> None:
    open_app(page, f"{failing}/?checkpoint=copy&layer=1&head=2")
    go_to(page, "Look", "Failing")
    alert = page.get_by_test_id("stAlert")
    expect(alert).to_contain_text("Failing could not be drawn: the program has a fault there")
    painted(page)
    expect(page.get_by_text("A part of the page")).to_have_count(0)
    expect(page.get_by_label("Sentence")).to_have_value("3 7 2 9 4 11 5")
    expect(page.get_by_test_id("stException")).to_have_count(0)
    page.get_by_role("link", name="Back to Explore").click()
    expect(page.get_by_role("img", name=re.compile("attention, L1 H2:"))).to_be_visible()
    expect(alert).to_have_count(0)
    becomes(lambda: parameter(page, "layer"), "1")


@pytest.mark.thorough
def test_what_fails_beside_the_pages_is_a_sentence_too(page: Page, failing: str) -> None:
    page.goto(f"{failing}/?beside=yes")
    expect(page.get_by_test_id("stAlert")).to_contain_text("The app could not be drawn")
    expect(page.get_by_test_id("stException")).to_have_count(0)
    page.get_by_role("link", name="Try again").click()
    expect(page.locator(".head-view[data-nonce]")).to_be_visible()
