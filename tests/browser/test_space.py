"""Pictures fill their panels, nothing that matters is below the fold, and all of it can be read."""

from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.server import becomes, painted
from tests.browser.test_app import visit
from tests.representatives import cases, thorough
from transformer.discover import discover
from viz.screen import FIRST_PAGE

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

LAPTOP: ViewportSize = {"width": 1440, "height": 900}
STAGE: ViewportSize = {"width": 1920, "height": 1080}

LOW: tuple[ViewportSize, ...] = ({"width": 720, "height": 450}, {"width": 640, "height": 400})
"""Windows of 1440 and of 1280 at 200 % zoom."""
SHOWING = [name for name, page in discover("viz.pages", "PAGE").items() if page.has_pictures]
BEGINS = """() => {
  const shown = ".stPlotlyChart, .stDataFrame, .tables, .text-lines, .stBidiComponent";
  const boxes = [...document.querySelectorAll(".st-key-page :is(" + shown + ")")]
    .map((node) => node.getBoundingClientRect());
  return Math.min(...boxes.filter((box) => box.height > 20).map((box) => box.top));
}"""
"""Where the first exhibit of a page begins, from the top of the window."""
LARGE = ".head-view[data-nonce] .stage, .head-map[data-plot] .stage"
BOTTOMS = "all => all.map(each => each.getBoundingClientRect().bottom)"
LINE = 24
"""Pixels of it that are seen at least."""

SCHEMES: tuple[Literal["light", "dark"], ...] = ("dark", "light")

LEAST = 14
"""Of type, in px."""
MODULE = (Path(__file__).parent / "layout.js").read_text("utf-8")
FAULTS = f"({MODULE.replace('export default ', '')})"
WIDTHS = ((390, 844), (720, 450), (768, 1024), (960, 700), (1440, 900), (1920, 1080))
"""A phone, a window of 1440 at 200 % zoom, tablets, a laptop, a stage."""
DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


@pytest.mark.parametrize("picture", ["arrows", *map(thorough, ["map", "why"])])
def test_the_first_screen_is_filled_and_nothing_has_to_be_scrolled(
    page: Page, address: str, picture: str
) -> None:
    """Of Explore on a laptop, light and dark; on a stage its picture is as large."""
    page.set_viewport_size(LAPTOP)
    visit(page, f"{address}/?picture={picture}")
    foot = page.locator(".st-key-foot")
    expect(foot).to_contain_text("What does this head do?")
    expect(page.locator(":is(.head-view, .head-map)[data-nonce]")).to_have_count(1)
    expect(page.locator(".head-grid .cell")).to_have_count(72)
    painted(page)
    main = page.get_by_test_id("stMain")
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        becomes(lambda: main.evaluate("node => node.scrollHeight - node.clientHeight"), 0)
    box = foot.bounding_box()
    assert box is not None and 0.85 * 900 <= box["y"] + box["height"] <= 900 - 8
    if picture == "why":  # a table beside it
        return
    large = page.locator(LARGE)
    expect(large).to_have_count(1)
    for size in (LAPTOP, STAGE):
        page.set_viewport_size(size)
        becomes(lambda size=size: is_filled(page, size), (True, True))
        box = large.bounding_box()
        assert box is not None and box["width"] >= 0.5 * size["width"]


def is_filled(page: Page, size: ViewportSize) -> tuple[bool, ...]:
    """Whether the grid and the picture end in the lowest quarter of the window."""
    boxes = page.locator(f".head-grid .boards, {LARGE}").evaluate_all(BOTTOMS)
    return tuple(0.75 * size["height"] <= bottom <= size["height"] for bottom in boxes)


@pytest.mark.parametrize("name", cases(SHOWING, {"a picture": "explore", "a table": "heads"}))
def test_in_a_low_window_a_page_begins_with_what_it_shows(
    page: Page, address: str, name: str
) -> None:
    """What is chosen for it stands below, or in few lines above."""
    page.set_viewport_size(LOW[0])
    asked = "?sweep_asked=yes" if name == "sweep" else ""
    visit(page, f"{address}/{'' if name == FIRST_PAGE else name}{asked}")
    for size in LOW:
        page.set_viewport_size(size)
        becomes(lambda size=size: page.evaluate(f"({BEGINS})()") < size["height"] - LINE, True)


def test_at_200_per_cent_the_picture_is_in_the_first_screen(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 720, "height": 450})
    visit(page, address)
    picture = page.locator(".head-view[data-nonce] .stage")
    expect(picture).to_have_count(1)
    painted(page)
    box = picture.bounding_box()
    assert box is not None and box["y"] < 0.8 * 450
    for name in ("checkpoint", "decoding", "options"):  # none is cut for it
        place = page.locator(f'[class*="st-key-{name}"]').first.bounding_box()
        assert place is not None and place["width"] >= 40 and place["x"] + place["width"] <= 720
