"""Lines lead from written words to the source words they look at most, by a click, and live."""

from urllib.parse import quote_plus

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import becomes
from tests.browser.test_app import parameter, visit
from tests.browser.test_focus import chip
from tests.browser.test_live_preview import TYPED, type_letters
from transformer import decode, load_checkpoint, record
from viz.components.token_rows.token_rows import aligned

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

TEXT = "The bank on the river was full of flowers."
LINES = ".token-rows svg.aligned line"


def wanted(text: str) -> list[list[float]]:
    """Target, source and weight of each line, as Python has them."""
    checkpoint = load_checkpoint("checkpoints/en-de", "cpu")
    made = record(checkpoint, text, decode(checkpoint, text, method="beam").target)
    return [list(each) for each in aligned(made) or ()]


def drawn(page: Page, which: str = LINES) -> list[list[float]]:
    """The same as they are on the page."""
    read = "({ dataset: { target, source, weight } }) => [target, source, weight].map(Number)"
    result: list[list[float]] = page.locator(which).evaluate_all(f"all => all.map({read})")
    return result


def test_lines_are_drawn_by_a_click_and_stand_out_by_pointing(page: Page, address: str) -> None:
    visit(page, f"{address}/?text={quote_plus(TEXT)}")
    switch = page.locator(".token-rows").get_by_role("button", name="lines")
    expect(switch).to_have_attribute("aria-pressed", "false")
    assert not drawn(page)
    switch.click()
    lines = wanted(TEXT)
    becomes(lambda: drawn(page), lines)
    becomes(lambda: parameter(page, "alignment"), "yes")
    assert not drawn(page, f"{LINES}.strong")
    chip(page, "source", "▁?river").hover()
    place = chip(page, "source", "▁?river").get_attribute("data-position")
    becomes(
        lambda: drawn(page, f"{LINES}.strong"),
        [each for each in lines if each[1] == int(place or -1)],
    )
    assert drawn(page, f"{LINES}.strong")
    page.reload()
    becomes(lambda: drawn(page), lines)
    type_letters(page, TYPED)
    becomes(lambda: drawn(page), wanted(TYPED))


@pytest.mark.thorough
def test_rows_that_wrap_have_the_lines_of_one_word(page: Page, address: str) -> None:
    visit(page, f"{address}/?text={quote_plus(TEXT)}&alignment=yes")
    becomes(lambda: len(drawn(page)), len(wanted(TEXT)))
    page.set_viewport_size({"width": 390, "height": 844})
    becomes(lambda: len(drawn(page)), 0)
    first = wanted(TEXT)[0]
    page.locator(f'.token-rows [data-side="target"][data-position="{first[0]:.0f}"]').hover()
    becomes(lambda: drawn(page), [first])
    page.set_viewport_size({"width": 1440, "height": 900})
    becomes(lambda: len(drawn(page)), len(wanted(TEXT)))
