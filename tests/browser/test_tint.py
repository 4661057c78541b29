"""Written words are tinted by how unsure the model was, live, and the tint goes by a click."""

import re
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import becomes
from tests.browser.test_app import parameter, visit
from tests.browser.test_focus import chip
from tests.browser.test_live_preview import TYPED, type_letters
from transformer import decode, load_checkpoint, record
from viz.components.token_rows.token_rows import tinted

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

TEXT = "The bank on the river was full of flowers."


def depths(text: str, measure: int) -> list[float]:
    """A depth for each written token, as Python has it."""
    checkpoint = load_checkpoint("checkpoints/en-de", "cpu")
    made = record(checkpoint, text, decode(checkpoint, text, method="beam").target)
    return [each[measure] for each in tinted(made)]


def drawn(page: Page) -> list[float]:
    """The same as the row shows it: of each token that of its word."""
    tokens = page.locator(".token-rows .tokens.target .chip")
    return tokens.evaluate_all("all => all.map(each => Number(each.parentNode.dataset.depth))")


def test_the_tint_is_chosen_and_taken_off_by_a_click(page: Page, address: str) -> None:
    visit(page, f"{address}/?text={quote_plus(TEXT)}")
    becomes(lambda: drawn(page), depths(TEXT, 0))
    numbers = re.compile("nats.*rank.*bits")
    expect(chip(page, "target", "Bank")).to_have_attribute("title", numbers)
    page.get_by_label("Tint of written words").select_option("entropy")
    becomes(lambda: drawn(page), depths(TEXT, 2))
    becomes(lambda: parameter(page, "tint"), "entropy")
    off = page.get_by_role("button", name="uncertainty")
    off.click()
    becomes(lambda: set(drawn(page)), {0.0})
    becomes(lambda: parameter(page, "tint"), "off")
    expect(chip(page, "target", "Bank")).not_to_have_attribute("title", numbers)
    off.focus()
    page.keyboard.press("Enter")
    becomes(lambda: drawn(page), depths(TEXT, 2))


def test_the_tint_follows_every_letter(page: Page, address: str) -> None:
    visit(page, f"{address}/?text={quote_plus(TEXT)}&tint=rank")
    becomes(lambda: drawn(page), depths(TEXT, 1))
    type_letters(page, TYPED)
    becomes(lambda: drawn(page), depths(TYPED, 1))
