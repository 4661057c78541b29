"""Each address of docs/how-do-i.md opens and shows what stands in the title of its link."""

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import ROOT
from tests.browser.test_app import visit
from tests.representatives import cases

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

AT = "http://localhost:8501/"
TEXT = (ROOT / "docs" / "how-do-i.md").read_text("utf-8")
LINKS = re.findall(rf'\]\({re.escape(AT)}(\S*) "([^"]+)"\)', TEXT)


def test_every_address_says_what_it_shows() -> None:
    assert len(LINKS) == TEXT.count(AT) >= 20


def of_pages() -> dict[str, tuple[str, str]]:
    """The first link to three pages: what others choose there has its own tests."""
    links = {urlsplit(path).path: (path, words) for path, words in reversed(LINKS)}
    return dict(sorted(links.items())[:3])


@pytest.mark.parametrize(("path", "words"), cases(LINKS, of_pages()), ids=lambda it: it[:40])
def test_an_address_shows_what_is_said(path: str, words: str, page: Page, address: str) -> None:
    visit(page, f"{address}/{path}")
    expect(page.locator("body")).not_to_contain_text("could not be")
    expect(page.get_by_text(words).locator("visible=true").first).to_be_visible()
    expect(page.get_by_test_id("stException")).to_have_count(0)
