"""A story: each scene stays above the picture that it opens, and leads to the next one."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import becomes
from tests.browser.test_app import TOP, parameter, type_sentence, visit
from viz.stories.reading import stories_of

pytestmark = [pytest.mark.browser, pytest.mark.same_page]
FIRST, *_, LAST = stories_of("gallery")


def test_a_card_opens_its_scene_which_leads_on_and_is_closed(page: Page, address: str) -> None:
    first, second = FIRST.scenes[:2]
    heads = ",".join(map(str, first.screen.heads or ()))
    visit(page, f"{address}/gallery")
    page.evaluate("window.since = 'the start'")
    page.get_by_label(f"Open: {first.heading}").click()
    story, picture = page.locator(".story"), page.locator(".head-view[data-nonce]")
    expect(story).to_contain_text(first.text)
    expect(picture).to_have_attribute("data-heads", heads)
    assert story.bounding_box()["y"] < picture.bounding_box()["y"]
    expect(story.get_by_role("link", name=re.compile("Previous"))).to_have_count(0)
    expect(story.get_by_role("link", name=re.compile("Back to the scene"))).to_have_count(0)
    story.get_by_role("link", name="Next").click()
    expect(story).to_contain_text(second.text)
    becomes(lambda: (parameter(page, "story"), parameter(page, "scene")), (FIRST.name, "2"))
    story.get_by_role("link", name="Previous").click()
    expect(story).to_contain_text(first.text)
    page.get_by_role("button", name="Close").click()
    expect(story).to_have_count(0)
    becomes(lambda: parameter(page, "story"), None)
    expect(picture).to_have_attribute("data-heads", heads)
    page.go_back()
    expect(story).to_contain_text(first.text)
    assert page.evaluate("window.since") == "the start"  # nothing was loaded anew


def test_whoever_types_another_sentence_stays_in_the_scene_and_finds_back(
    page: Page, address: str
) -> None:
    scene = FIRST.scenes[1]
    visit(page, f"{address}/?story={FIRST.name}&scene=2")
    story = page.locator(".story")
    expect(story).to_contain_text(scene.heading)
    type_sentence(page, "It rains.")
    becomes(lambda: parameter(page, "text"), "It rains.")
    expect(story).to_contain_text(scene.heading)
    expect(story.locator(".departed")).to_contain_text(str(scene.screen.text))
    story.get_by_role("link", name=re.compile("Back to the scene")).click()
    becomes(lambda: parameter(page, "text"), scene.screen.text)
    expect(story.locator(".departed")).to_have_count(0)
    expect(story.get_by_role("link", name=re.compile("Back to the scene"))).to_have_count(0)


@pytest.mark.thorough
def test_back_leads_from_a_scene_to_the_gallery_and_cards_open_in_tabs_too(
    page: Page, address: str
) -> None:
    last = LAST.scenes[-1]
    visit(page, f"{address}/gallery")
    card = page.get_by_label(f"Open: {last.heading}")
    card.scroll_into_view_if_needed()
    with page.context.expect_page() as opened:
        card.click(modifiers=["Control"])
    expect(opened.value.locator(".story")).to_contain_text(last.text.replace("*", ""))
    assert page.evaluate(TOP) > 0
    card.click()
    story = page.locator(".story")
    expect(story).to_contain_text(last.text.replace("*", ""))
    becomes(lambda: page.evaluate(TOP), 0)
    expect(story).to_be_in_viewport()
    becomes(lambda: parameter(page, "checkpoint"), last.screen.checkpoint)
    page.go_back()
    expect(page.get_by_label(f"Open: {FIRST.scenes[0].heading}")).to_have_count(1)
    expect(card).to_be_in_viewport()  # where one was
    page.go_forward()
    expect(story).to_contain_text(last.text.replace("*", ""))
