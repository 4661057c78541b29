"""One screen for a wall, by one key or the menu, and one key back."""

import re
from contextlib import suppress

import pytest
from playwright.sync_api import Page, TimeoutError, expect

from tests.browser.server import becomes, painted
from tests.browser.test_app import listens, open_app, parameter, visit
from viz.talks.stage import PRESENT

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

SIZE = "() => Number.parseFloat(getComputedStyle(document.documentElement).fontSize)"


def is_presented(page: Page) -> bool:
    return parameter(page, "role") == "present"


@pytest.mark.parametrize("end", ["f", "Escape"])
def test_the_key_presents_and_leads_back(page: Page, address: str, end: str) -> None:
    open_app(page, f"{address}/?checkpoint=copy&text=3+7+2&layer=1&head=2")
    listens(page)
    header = page.get_by_test_id("stHeader")
    usual = page.evaluate(SIZE)
    page.keyboard.press("f")
    expect(header).to_be_hidden()
    becomes(lambda: is_presented(page), True)
    assert page.evaluate(SIZE) > usual
    assert (parameter(page, "layer"), parameter(page, "head")) == ("1", "2")
    painted(page)
    page.keyboard.press(end)
    expect(header).to_be_visible()
    becomes(lambda: parameter(page, "role"), None)


@pytest.mark.parametrize("chosen", [None, "arrows"])
def test_heads_that_a_key_brought_go_with_the_presentation(
    page: Page, address: str, chosen: str | None
) -> None:
    open_app(page, f"{address}/?layer=1&head=2{f'&tool={chosen}' if chosen else ''}")
    listens(page)
    page.keyboard.press("f")
    expect(page.get_by_test_id("stHeader")).to_be_hidden()
    becomes(lambda: is_presented(page), True)
    painted(page)
    page.keyboard.press("h")
    becomes(lambda: parameter(page, "tool"), "heads")
    painted(page)
    page.keyboard.press("Escape")
    becomes(lambda: (parameter(page, "role"), parameter(page, "tool")), (None, chosen))


def test_a_text_that_is_typed_may_have_the_letter(page: Page, address: str) -> None:
    open_app(page, f"{address}/?checkpoint=copy&text=3+7+2")
    field = page.get_by_label("Sentence")
    field.press("f")
    expect(field).to_have_value(re.compile("f"))
    expect(page.get_by_test_id("stHeader")).to_be_visible()
    assert not is_presented(page)
    field.press("Enter")
    expect(field).not_to_be_focused()
    page.keyboard.press("Enter")  # to go on typing
    expect(field).to_be_focused()
    field.press("Escape")
    expect(field).not_to_be_focused()
    page.keyboard.press("f")
    expect(page.get_by_test_id("stHeader")).to_be_hidden()


@pytest.mark.thorough
def test_the_menu_presents_too_and_switches_the_key_off(page: Page, address: str) -> None:
    visit(page, f"{address}/inspect?checkpoint=copy")
    save = page.get_by_test_id("stPopover").filter(has_text="Save").get_by_role("button")
    save.click()
    painted(page)
    page.get_by_text("Key f", exact=True).click()
    painted(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name=PRESENT)).to_be_hidden()

    def presents() -> bool:
        page.keyboard.press("f")
        with suppress(TimeoutError):  # it is gone where the browser had not heard yet
            save.click(timeout=3_000)  # whatever the key did would have come first
        painted(page)
        presented = is_presented(page)
        if presented:
            page.keyboard.press("Escape")
            painted(page)
        return presented

    becomes(presents, False)
    page.get_by_role("link", name=PRESENT).click()
    expect(page.get_by_test_id("stHeader")).to_be_hidden()
    painted(page)
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stHeader")).to_be_visible()


@pytest.mark.thorough
def test_what_changes_the_sentence_is_there_and_a_key_brings_the_heads(
    page: Page, address: str
) -> None:
    open_app(page, f"{address}/?role=present")
    keys, grid = page.locator(".present-keys"), page.locator(".head-grid")
    offer = page.get_by_role("button", name="nicht")
    expect(keys).to_be_visible()
    expect(offer).to_be_visible()
    expect(grid).to_be_hidden()
    page.keyboard.press("h")
    expect(grid).to_be_visible()
    expect(keys).to_be_hidden()
    offer.click()
    expect(page.locator(".text-lines s")).to_have_text("nicht")
    page.keyboard.press("h")
    expect(grid).to_be_hidden()


def test_two_texts_that_differ_are_compared_on_a_wall_too(page: Page, address: str) -> None:
    visit(page, f"{address}/compare?checkpoint_b=en-de-small&role=present")
    expect(page.locator(".text-lines b").first).to_be_visible()
