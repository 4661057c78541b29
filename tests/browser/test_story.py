"""A story of the gallery: it stays above the picture that it opens, and leads to the next one."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import becomes
from tests.browser.test_app import open_app, parameter, type_sentence
from viz.gallery import COMPOSITIONS

pytestmark = pytest.mark.browser


def test_a_card_opens_its_story_which_leads_on_and_is_closed(page: Page, address: str) -> None:
    first, second = COMPOSITIONS[:2]
    open_app(page, f"{address}/gallery")
    page.evaluate("window.since = 'the start'")
    page.get_by_label(f"Open: {first.title}").click()
    story, picture = page.locator(".story"), page.locator(".head-view[data-nonce]")
    expect(story).to_contain_text(first.sentence)
    expect(picture).to_have_attribute("data-heads", "1,2,3,4,7")
    assert story.bounding_box()["y"] < picture.bounding_box()["y"]
    expect(story.get_by_role("link", name=re.compile("Previous"))).to_have_count(0)
    story.get_by_role("link", name="Next").click()
    expect(story).to_contain_text(second.sentence)
    becomes(lambda: parameter(page, "story"), second.name)
    story.get_by_role("link", name="Previous").click()
    expect(story).to_contain_text(first.sentence)
    page.get_by_role("button", name="Close").click()
    expect(story).to_have_count(0)
    becomes(lambda: parameter(page, "story"), None)
    expect(picture).to_have_attribute("data-heads", "1,2,3,4,7")
    page.go_back()
    expect(story).to_contain_text(first.sentence)
    assert page.evaluate("window.since") == "the start"  # nothing was loaded anew


def test_whoever_types_another_sentence_stays_in_the_story(page: Page, address: str) -> None:
    told = COMPOSITIONS[1]
    open_app(page, f"{address}/?story={told.name}")
    story = page.locator(".story")
    expect(story).to_contain_text(told.title)
    type_sentence(page, "It rains.")
    becomes(lambda: parameter(page, "text"), "It rains.")
    expect(story).to_contain_text(told.title)


def test_back_leads_from_a_story_to_the_gallery_and_cards_open_in_tabs_too(
    page: Page, address: str
) -> None:
    last = COMPOSITIONS[-1]
    open_app(page, f"{address}/gallery")
    card = page.get_by_label(f"Open: {last.title}")
    card.scroll_into_view_if_needed()
    with page.context.expect_page() as opened:
        card.click(modifiers=["Control"])
    expect(opened.value.locator(".story")).to_contain_text(last.sentence)
    card.click()
    story = page.locator(".story")
    expect(story).to_contain_text(last.sentence)
    expect(story).to_be_in_viewport()
    becomes(lambda: parameter(page, "checkpoint"), "sentiment")
    page.go_back()
    expect(page.get_by_label(f"Open: {COMPOSITIONS[0].title}")).to_have_count(1)
    page.go_forward()
    expect(story).to_contain_text(last.sentence)
