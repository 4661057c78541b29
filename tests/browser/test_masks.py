"""The page of masks in a browser: two sentences as one padded batch."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import painted
from tests.browser.test_app import visit

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

PLOTS = "[...document.querySelectorAll('.js-plotly-plot')]"
CELL = f"""([id, row, column]) => {{
    const plot = {PLOTS}.find(p => p.layout.meta.id === id), layout = plot._fullLayout;
    plot.scrollIntoView({{block: 'center'}});
    const box = plot.querySelector('.nsewdrag').getBoundingClientRect();
    return [box.x + layout.xaxis.d2p(column), box.y + layout.yaxis.d2p(row)];
}}"""
KEYS = f"id => {PLOTS}.find(p => p.layout.meta.id === id).layout.xaxis.ticktext"


def wait_for_figure(page: Page, id: str) -> None:
    page.wait_for_function(f"{PLOTS}.some(p => p.layout?.meta.id === {id!r} && p._fullLayout)")


def test_the_masks_of_a_batch_say_what_they_forbid(page: Page, address: str) -> None:
    visit(page, f"{address}/masks?mask_text=Hello.&masks=textbook")
    for number in (1, 2):
        for which in ("padding", "subsequent", "combined"):
            wait_for_figure(page, f"masks decoder_self {number} {which}")
    expect(page.get_by_text("In the textbook, the subsequent mask closes")).to_be_visible()
    # The last key of the shorter sentence is padding, and later than all other queries.
    last = len(page.evaluate(KEYS, "masks decoder_self 2 combined")) - 1
    hover = page.locator(".js-plotly-plot .hoverlayer")
    page.mouse.move(*page.evaluate(CELL, ["masks decoder_self 2 combined", 0, last]))
    expect(hover.filter(has_text="<s> → <pad>: forbidden by both masks")).to_have_count(1)
    page.mouse.move(*page.evaluate(CELL, ["masks decoder_self 2 padding", 0, last]))
    expect(hover.filter(has_text="<s> → <pad>: forbidden by the padding mask")).to_have_count(1)


def test_a_second_sentence_and_another_kind_change_the_masks(page: Page, address: str) -> None:
    visit(page, f"{address}/masks")
    field = page.get_by_label("Second sentence")
    field.fill("The cat sleeps.")
    field.press("Enter")
    page.wait_for_url(re.compile("mask_text=The"))
    page.get_by_role("radio", name="Cross").click()
    wait_for_figure(page, "masks cross 2 combined")
    painted(page)
    keys = page.evaluate(KEYS, "masks cross 2 combined")
    assert "cat" in " ".join(keys) and "&lt;pad&gt;" in keys[-1]
    assert page.evaluate(f"{PLOTS}.length") == 2
    expect(page.get_by_test_id("stAlert")).to_have_count(0)


def test_the_model_s_own_masks_come_first_and_the_textbook_s_at_a_press(
    page: Page, address: str
) -> None:
    visit(page, f"{address}/masks")
    wait_for_figure(page, "masks decoder_self 2 combined")
    said = page.get_by_text("A mask closes keys to a query.")
    expect(said).to_contain_text(
        "en-de closes every later key here, and leaves padding open to padding only"
    )
    first = page.locator(".js-plotly-plot").first
    assert said.bounding_box()["y"] < first.bounding_box()["y"]
    assert page.evaluate(f"{PLOTS}.length") == 2
    page.get_by_role("radio", name="Textbook").click()
    page.wait_for_url(re.compile("masks=textbook"))
    expect(said).to_contain_text("In the textbook")
    wait_for_figure(page, "masks decoder_self 2 padding")
    page.get_by_role("radio", name="Used by this model").click()
    expect(said).to_contain_text("en-de closes every later key here")
    page.wait_for_function("!location.search.includes('masks=')")
