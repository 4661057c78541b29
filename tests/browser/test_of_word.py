"""Further studies of a pinned word, and of the layers that its text was written from."""

import re
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import becomes
from tests.browser.test_app import parameter, visit

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

SMOKING = quote_plus("He gave up smoking two years ago.")
TIRED = quote_plus("The animal didn't cross the street because it was too tired.")


@pytest.mark.thorough
def test_each_layer_of_the_encoder_has_its_text(page: Page, address: str) -> None:
    visit(page, f"{address}/decode?checkpoint=en-de-1&text={SMOKING}&decoding=greedy")
    page.get_by_role("button", name="Written from each encoder layer").click()
    lines = page.locator(".text-lines dd")
    expect(lines).to_have_count(4)
    expect(lines.nth(2)).to_contain_text(re.compile(r"Vor.*zwei.*Jahre\d.*mit.*Rauchen"))
    becomes(lambda: parameter(page, "decoder_lens"), "yes")


@pytest.mark.thorough
def test_the_grid_shows_what_each_head_is_worth_to_the_pinned_word(
    page: Page, address: str
) -> None:
    visit(page, f"{address}/?checkpoint=en-de-1&text={TIRED}&decoding=greedy&kind=cross&pins=q5")
    page.get_by_label("Show", exact=True).select_option("cost of each head")
    cells = page.locator(".head-grid .cell .value")
    expect(cells.nth(64)).to_have_text("1.11")  # cross L2 H0
    expect(cells).to_have_count(72)
    expect(page.locator(".head-grid .legend")).to_contain_text("“nicht”")
    page.locator(".token-rows").get_by_text("müde", exact=True).click()
    expect(page.locator(".head-grid .legend")).to_contain_text("“müde”")
    becomes(lambda: parameter(page, "show"), "worth")


def test_the_strongest_arrow_of_a_word_is_cut_by_a_click(page: Page, address: str) -> None:
    visit(page, f"{address}/?checkpoint=en-de-1&text={TIRED}&decoding=greedy&kind=cross&pins=q5")
    page.get_by_role("button", name="Each arrow cut").click()
    arrow = page.get_by_role("link", name=re.compile("Decoder L2 H4 → Straße"))
    expect(arrow).to_be_visible()
    becomes(lambda: parameter(page, "cause"), "arrows")
    page.get_by_role("button", name="Direct logit attribution").click()
    expect(page.get_by_role("row", name=re.compile(r"^Cross L2 \+4\.41"))).to_be_visible()
    expect(arrow).to_have_count(0)
