"""The shipped talk as one file: given by keys in a browser that reaches nothing."""

import io
import re
from pathlib import Path
from urllib.request import urlretrieve

import pytest
from PIL import Image, ImageChops
from playwright.sync_api import Browser, Error, Locator, Page, expect

from tests.browser.server import becomes
from tests.representatives import cases
from viz.stories.reading import shipped_stories
from viz.talks.story import recording_of

pytestmark = pytest.mark.browser
SHAPES = """(all) => new Set(all.filter((each) => each.complete && each.naturalWidth > 0)
  .map(({ src }) => src)).size"""
"""The number of different pictures that are there."""
TALK = shipped_stories()["attention-is-all-you-need"]
N = len(TALK.scenes)
NATS = re.compile(r"^Your points cost \d\.\d\d nats$")
WORD = re.compile(r"^\w+$")
LARGEST = 3_000_000
"""Bytes for thirteen scenes."""
PICTURE = ".headscope:is(.head-view, .head-map, .decode-player, .snapshot-player)[data-nonce]"
PLACES = ".place, .around { visibility: hidden }"
SAME = 2
"""Steps of 255 between two pictures of one scene, where lines meet."""


SCENES = {
    "each picture": {(it.screen.page, it.screen.picture): it for it in TALK.scenes}.values(),
    "all": TALK.scenes,
}


@pytest.mark.thorough
@pytest.mark.parametrize("compared", cases(SCENES, {"kinds of pictures": "each picture"}))
def test_the_talk_is_given_from_a_file_without_a_request_and_looks_as_it_does_live(
    browser: Browser, address: str, tmp_path: Path, compared: str
) -> None:
    file = tmp_path / "talk.html"  # the stage keeps what is saved as HTML
    urlretrieve(address + recording_of(TALK.name).removeprefix("."), file)
    assert file.stat().st_size < LARGEST
    context = browser.new_context(
        offline=True, viewport={"width": 1280, "height": 720}, color_scheme="light"
    )
    page, asked, wrong = context.new_page(), [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda said: wrong.append(said.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(file.as_uri())
    live = browser.new_context(viewport={"width": 1280, "height": 720}).new_page()
    live.goto(f"{address}/?story={TALK.name}&role=stage")
    for number, scene in enumerate(TALK.scenes, 1):
        expect(page.get_by_label("Scene", exact=True)).to_have_text(f"{number} / {N}")
        expect(page.locator("section:visible h1")).to_have_text(scene.heading)
        hosts = page.locator("section:visible .picture:visible")
        if scene.question:  # it stands before its picture
            expect(hosts).to_have_count(1)
            for each in (live, page):
                each.locator(".question").get_by_role("button", name=WORD).nth(1).click()
                each.mouse.move(1, 1)  # else it may lie on a row of the picture that comes there
            page.keyboard.press("Enter")
            live.keyboard.press("r")
            expect(page.locator("section:visible .question b")).to_have_text(NATS)
            expect(hosts).to_have_count(2)
            hosts = page.locator("section:visible .picture:not(.asks)")
        for host in hosts.all():
            expect(host.locator("[data-nonce]").first).to_be_visible()
        expect(
            page.locator("section:visible :is(.picture, .printed img):visible")
        ).not_to_have_count(0)
        over = page.locator("main").evaluate("main => main.scrollHeight - main.clientHeight")
        assert over <= 0, scene.heading
        expect(live.locator(".st-key-scene h1")).to_have_text(scene.heading)
        if scene in SCENES[compared]:
            both = live.get_by_test_id("stMain"), page.locator("section:visible")
            becomes(lambda both=both: differ(*both), False)
        for each in (live, page):
            each.keyboard.press("PageDown")
    expect(page.get_by_text("recorded")).to_be_visible()
    keys(page)
    assert asked == [file.as_uri()] and wrong == []
    context.close()
    live.context.close()


def differ(live: Locator, saved: Locator) -> bool:
    """Whether the pictures of a scene are others than those that were saved."""
    charts = [each.locator(".printed img:visible") for each in (live, saved)]
    if charts[1].count() and not charts[0].count():  # a table there, and an image of it in the file
        return (charts[1].first.get_attribute("alt") or "?") not in live.inner_text()
    if charts[1].count():  # one image, which stands elsewhere between two pixels
        sources = [[node.get_attribute("src") for node in each.all()] for each in charts]
        return sources[0] != sources[1]
    try:
        pictures = [[*map(seen, each.locator(PICTURE).all())] for each in (live, saved)]
    except Error:  # one was drawn anew meanwhile
        return True
    if len(pictures[0]) != len(pictures[1]) or not pictures[0]:
        return True
    return any(
        one.size != other.size
        or max(most for _, most in ImageChops.difference(one, other).getextrema()) > SAME
        for one, other in zip(*pictures, strict=True)
    )


def seen(picture: Locator) -> Image.Image:
    """As it stands on the screen, without the number of the scene."""
    return Image.open(io.BytesIO(picture.screenshot(style=PLACES))).convert("RGB")


def keys(page: Page) -> None:
    """All others of a talk, and a picture that answers."""
    place = page.get_by_label("Scene", exact=True)
    page.keyboard.press("Home")
    expect(place).to_have_text(f"1 / {N}")
    dark = "document.documentElement.style.colorScheme"
    page.keyboard.press("d")
    assert page.evaluate(dark) == "dark"
    page.keyboard.press("g")
    page.keyboard.type("8")
    page.keyboard.press("Enter")
    expect(place).to_have_text(f"8 / {N}")
    page.keyboard.press(".")
    expect(page.locator(".blank")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".blank")).to_be_hidden()
    page.get_by_title("Overview").click()  # as by o, which phones do not have
    page.get_by_role("button", name=TALK.scenes[2].heading).click()
    expect(place).to_have_text(f"3 / {N}")
    page.keyboard.press("PageUp")
    expect(place).to_have_text(f"2 / {N}")
