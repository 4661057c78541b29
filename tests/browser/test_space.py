"""Pictures fill their panels, nothing that matters is below the fold, and all of it can be read."""

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.server import painted
from tests.browser.test_app import open_app

pytestmark = pytest.mark.browser

LAPTOP: ViewportSize = {"width": 1440, "height": 900}
STAGE: ViewportSize = {"width": 1920, "height": 1080}

SMALL = """(least) => {
    const found = new Set();
    const look = (root) => {
        for (const node of root.querySelectorAll("*")) {
            if (node.shadowRoot) look(node.shadowRoot);
            const own = [...node.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
            const seen = { opacityProperty: true, visibilityProperty: true };
            if (!own || !node.checkVisibility(seen)) continue;
            const { width, height } = node.getBoundingClientRect();
            const size = parseFloat(getComputedStyle(node).fontSize);
            const isRaised = ["SUB", "SUP"].includes(node.tagName);
            if (width > 1 && height > 1 && size < least && !isRaised) {
                found.add(`${node.tagName} ${node.className} ${size} ${node.textContent}`);
            }
        }
    };
    look(document.querySelector('[data-testid="stMain"]'));
    return [...found];
}"""


@pytest.mark.parametrize("size", [LAPTOP, STAGE], ids=["1440", "1920"])
@pytest.mark.parametrize("picture", ["arrows", "map"])
def test_the_first_screen_is_filled_and_nothing_is_below_it(
    page: Page, address: str, size: ViewportSize, picture: str
) -> None:
    page.set_viewport_size(size)
    open_app(page, f"{address}/?picture={picture}")
    large = page.locator(".head-view[data-nonce] .stage, .head-map[data-plot] .stage")
    expect(large).to_have_count(1)
    painted(page)
    expect(page.locator(".head-grid .cell")).to_have_count(72)
    grid = page.locator(".head-grid .boards").bounding_box()
    box = large.bounding_box()
    assert grid is not None and box is not None
    for each in (grid, box):
        assert each["y"] + each["height"] <= size["height"]
        assert each["y"] + each["height"] >= 0.75 * size["height"]
    assert box["width"] >= 0.5 * size["width"]


@pytest.mark.parametrize(
    "path",
    ["", "?picture=map", "?picture=inside", "?sort=entropy&show=entropy", "compare", "decode"],
)
def test_no_text_is_too_small_to_read(page: Page, address: str, path: str) -> None:
    open_app(page, f"{address}/{path}")
    page.locator("[data-nonce]").first.wait_for()
    painted(page)
    assert page.evaluate(SMALL, 14) == []
