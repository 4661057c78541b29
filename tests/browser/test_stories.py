"""A story of one's own: added to where screens are, put in order, reloaded, saved, opened again."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.server import becomes, painted
from tests.browser.test_app import open_app, parameter, visit
from viz.stories.reading import read_story
from viz.talks.story_drafts import ADD

pytestmark = pytest.mark.browser


def test_screens_become_a_story_that_is_saved_and_opened(
    page: Page, address: str, tmp_path: Path
) -> None:
    open_app(page, f"{address}/?checkpoint=copy&text=3+7+2&layer=1&head=2")
    page.get_by_test_id("stPopover").filter(has_text="Save").get_by_role("button").click()
    box = page.get_by_test_id("stMainBlockContainer")
    expect(box).to_have_css("max-width", "2400px")
    painted(page)  # a button has a twin until its popover is drawn
    page.get_by_role("button", name=ADD).click()
    expect(page.get_by_text("Added as scene 1")).to_be_visible()
    painted(page)
    expect(box).to_have_css("max-width", "2400px")  # what a callback draws replaces our rules
    becomes(lambda: bool(parameter(page, "draft")), True)
    code = parameter(page, "draft")
    visit(page, f"{address}/decode?checkpoint=copy&text=9+9&step=1&draft={code}")
    page.get_by_test_id("stPopover").filter(has_text="Save").get_by_role("button").click()
    painted(page)
    page.get_by_role("button", name=ADD).click()
    expect(page.get_by_text("Added as scene 2")).to_be_visible()
    to_stories = page.get_by_test_id("stToast").get_by_role("link", name="Stories")
    expect(to_stories).to_have_attribute("href", f"./stories?draft={code}")
    page.evaluate("window.since = 'the start'")
    to_stories.click()  # while it is there
    is_headed(page.get_by_label("Heading of scene 1"), "3 7 2")
    assert page.evaluate("window.since") == "the start"  # in this tab, and nothing is loaded anew

    assert page.context.browser is not None
    theirs = page.context.browser.new_page()  # of somebody who was sent the link
    open_app(theirs, f"{address}/stories?draft={code}")
    expect(theirs.get_by_text("is put together in another browser")).to_be_visible()
    expect(theirs.get_by_label("Heading of scene 1")).to_have_count(0)
    theirs.get_by_role("button", name="Copy it").click()
    theirs.get_by_role("button", name="Remove").click()
    is_headed(theirs.get_by_label("Heading of scene 1"), "9 9")
    theirs.close()
    visit(page, f"{address}/stories?draft={code}")
    first, second = page.get_by_label("Heading of scene 1"), page.get_by_label("Heading of scene 2")
    scenes = page.get_by_role("navigation", name="Scenes").get_by_role("link")
    is_headed(first, "3 7 2")
    page.get_by_role("button", name="Down").click()
    is_headed(second, "3 7 2")  # its form goes along
    expect(scenes).to_have_text(["9 9", "3 7 2"])
    scenes.first.click()
    is_headed(first, "9 9")
    first.fill("Nine is copied")
    first.press("Enter")
    words = page.get_by_label("Words of scene 1")
    words.fill("It *copies*.\n")
    page.get_by_label("Speaker's notes of scene 1").click()  # leaves the words
    is_headed(words, "It *copies*.")  # they are taken, as a file has them
    page.reload()
    is_headed(first, "Nine is copied")
    expect(page.get_by_label("Words of scene 1")).to_have_value("It *copies*.")
    expect(scenes).to_have_text(["Nine is copied", "3 7 2"])
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save the story as MD").click()
    file = tmp_path / "saved.md"
    waiting.value.save_as(file)
    story = read_story(file.read_text("utf-8"), "saved")
    assert [scene.heading for scene in story.scenes] == ["Nine is copied", "3 7 2"]
    assert (story.scenes[0].screen.page, story.scenes[0].screen.step) == ("decode", 1)
    assert (story.scenes[1].screen.layer, story.scenes[1].screen.head) == (1, 2)

    scenes.last.click()
    lines = "- Each line is one more.\n" * 30
    page.get_by_label("Words of scene 2").fill(lines)
    page.get_by_label("Speaker's notes of scene 2").click()
    is_headed(page.get_by_label("Words of scene 2"), lines.rstrip())  # taken: another story
    page.get_by_role("button", name="Check that every scene fits").click()
    taller = "Scene 2 is taller than a screen of 1280 × 720: shorten its words, or show less."
    expect(page.locator(".scene-fit .said")).to_have_text(taller)  # and the first one is not

    scenes.first.click()
    is_headed(first, "Nine is copied")
    page.get_by_role("button", name="Remove").click()
    is_headed(first, "3 7 2")
    expect(page.locator(".scene-fit .said")).to_be_empty()
    expect(scenes).to_have_count(1)
    page.get_by_role("button", name="Put “Nine is copied” back").click()
    expect(scenes).to_have_text(["Nine is copied", "3 7 2"])
    page.get_by_role("button", name="Remove").click()
    is_headed(first, "3 7 2")
    damaged = tmp_path / "damaged.md"
    damaged.write_text(file.read_text("utf-8").replace("screen:", "scren:", 1), "utf-8")
    opens = page.get_by_role("button", name="Open a story")
    opens.click()
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(damaged)
    n = file.read_text("utf-8").split("screen:")[0].count("\n") + 1
    expect(page.get_by_text(f"damaged.md: line {n}: there is no field scren")).to_be_visible()
    is_headed(first, "3 7 2")  # nothing is lost
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(file)
    is_headed(first, "Nine is copied")
    expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)  # it closes by itself
    page.get_by_role("link", name="Read it").first.click()
    expect(page.locator(".story")).to_contain_text("It copies.")
    visit(page, f"{address}/?story={file}&scene=2")
    expect(page.locator(".story")).to_contain_text("3 7 2")


def is_headed(field: Locator, heading: str) -> None:
    """While a run goes on, Streamlit may show the field of the run before beside the new one."""
    becomes(lambda: field.evaluate_all("(all) => all.map(({ value }) => value)"), [heading])
