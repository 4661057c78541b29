"""The right word is typed below the card of a written one, and a repair is kept."""

import re
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import becomes
from tests.browser.test_app import parameter, row, visit

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

TEXT = quote_plus("Tom lives in Boston.")
GROUNDS = "all => all.map((each) => getComputedStyle(each).backgroundColor)"


def test_a_word_is_typed_and_its_repair_kept(page: Page, address: str) -> None:
    visit(page, f"{address}/?checkpoint=en-de-small&text={TEXT}&kind=cross&pins=q1")
    field = page.get_by_role("textbox", name="The right word")
    field.fill("lebt")
    field.press("Enter")
    chances = page.locator(".text-lines", has_text="“lebt”:")
    expect(chances).to_contain_text("rank")
    becomes(lambda: parameter(page, "instead"), "lebt")
    page.get_by_role("button", name="Find a repair").click()
    becomes(lambda: parameter(page, "repairs"), "yes")
    page.reload()
    expect(field).to_have_value("lebt")
    forced = page.get_by_role("row", name=re.compile("^[0-9]+ rows that write “wohnt” forced"))
    figure = page.get_by_role("figure", name=re.compile("^Heat map, two rows per head.*, needed “"))
    expect(figure).to_have_count(1)
    heads = page.locator(".data.rows:has(a:text-is('Keep')) thead tr:first-child > *")
    assert len(heads.all()) > 2 and len(set(heads.evaluate_all(GROUNDS))) == 1
    forced.get_by_role("link").click()
    becomes(lambda: row(page, "target")[1], "lebt")
    expect(
        page.get_by_role("button", name=re.compile("rows that write “lebt” forced"))
    ).to_have_count(1)
    page.get_by_role("button", name="Undo", exact=True).click()
    becomes(lambda: row(page, "target")[1], "wohnt")
    expect(chances).to_contain_text("rank")


def test_a_reference_is_scored_word_by_word(page: Page, address: str) -> None:
    visit(page, f"{address}/decode?checkpoint=en-de-small&text={TEXT}")
    page.get_by_role("radio", name="Reference").or_(
        page.get_by_role("button", name="Reference", exact=True)
    ).first.click()
    field = page.get_by_role("textbox", name="Reference")
    field.fill("Tom lebt in Boston.")
    field.press("Control+Enter")
    departure = page.get_by_role("row", name=re.compile("^lebt"))
    expect(departure.locator("td.marked")).to_have_text("wohnt")
    becomes(lambda: parameter(page, "decode_as"), "reference")
    page.reload()
    expect(field).to_have_value("Tom lebt in Boston.")
    expect(departure).to_be_visible()
