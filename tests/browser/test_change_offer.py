"""The button that changes what is written comes by itself, does what it says, and moves nothing."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.server import becomes, painted
from tests.browser.test_app import parameter, row, visit

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

DOGS = "He has two small dogs and a big black cat."


def offer(page: Page) -> Locator:
    return page.locator(".change-offer button")


def boxes(page: Page) -> list[object]:
    places = [".head-grid .boards", ".head-view[data-nonce] .stage", ".st-key-foot a"]
    return [page.locator(place).first.bounding_box() for place in places]


def test_it_comes_into_its_place_and_changes_the_sentence(page: Page, address: str) -> None:
    visit(page, address)
    expect(page.locator(".head-view[data-nonce]")).to_have_count(1)
    painted(page)
    before = boxes(page)
    expect(offer(page)).to_have_text("Switch off the 2 heads that carry nicht")
    assert boxes(page) == before
    offer(page).click()
    becomes(lambda: parameter(page, "edits"), "head-off:cross.1.7/head-off:cross.2.7")
    expect(offer(page)).to_be_hidden()
    expect(page.locator(".text-lines dd").nth(1)).not_to_contain_text("nicht")
    becomes(lambda: "nicht" in row(page, "target"), False)
    page.get_by_role("button", name="Undo").click()
    becomes(lambda: parameter(page, "edits"), None)
    expect(offer(page)).to_be_visible()


@pytest.mark.thorough
def test_it_goes_with_its_sentence(page: Page, address: str) -> None:
    """While somebody types it is not there; where nothing is found its place stays empty."""
    visit(page, f"{address}/?text={DOGS.replace(' ', '+')}")
    expect(offer(page)).to_have_text("Switch off the head without which kleine is lost")
    field = page.get_by_label("Sentence", exact=True)
    field.fill("It rains.")
    expect(offer(page)).to_be_hidden()
    becomes(lambda: parameter(page, "text"), "It rains.")
    expect(offer(page)).to_be_hidden()
    field.fill(DOGS)
    expect(offer(page)).to_be_visible()


def test_by_keyboard(page: Page, address: str) -> None:
    visit(page, f"{address}/?text={DOGS.replace(' ', '+')}")
    expect(offer(page)).to_be_visible()  # what is pressed by a key is not waited for
    offer(page).press("Enter")
    becomes(lambda: parameter(page, "edits"), "head-off:cross.2.0")
    becomes(lambda: "".join(row(page, "target")[:5]), "ErhatzweiHundeund")


def test_a_word_that_is_gone_is_pinned_no_more(page: Page, address: str) -> None:
    """Another one stands at its place: its card would be of that."""
    visit(page, f"{address}/?special=hidden&pins=q5")
    expect(page.locator(".word-card .title")).to_contain_text("“nicht”")
    offer(page).click()
    becomes(lambda: parameter(page, "pins"), None)
    expect(page.locator(".word-card .title")).to_have_count(0)


@pytest.mark.thorough
def test_a_word_that_moves_stays_pinned(page: Page, address: str) -> None:
    visit(page, f"{address}/?special=hidden&pins=q7")
    expect(page.locator(".word-card .title")).to_contain_text("“weil”")
    offer(page).click()
    becomes(lambda: parameter(page, "pins"), "q6")
    expect(page.locator(".word-card .title")).to_contain_text("“weil”")


def test_it_leads_to_where_its_heads_are_seen(page: Page, address: str) -> None:
    visit(page, f"{address}/?kind=encoder_self&layer=0&head=1")
    offer(page).click()
    becomes(lambda: [parameter(page, it) for it in ("kind", "layer", "head")], [None, "2", "7"])
