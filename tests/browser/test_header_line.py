"""The header of a long page: once it is out of sight, its fields stand in the top line."""

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.server import DESKTOP, PHONE, becomes, painted
from tests.browser.test_accessibility import faults
from tests.browser.test_app import parameter, visit
from tests.representatives import cases

pytestmark = [pytest.mark.browser, pytest.mark.same_page]
TABLET: ViewportSize = {"width": 1024, "height": 700}
ZOOMED: ViewportSize = {"width": 720, "height": 450}
LONG = "The animal didn't cross the street because it was too wide."
WATCH = """() => {
  window.shifts = [];
  const fields = ".st-key-typed, .st-key-chosen";
  const isOther = ({ node }) => node && !node.closest?.(fields);
  const names = ({ sources }) => sources.filter(isOther).map(({ node }) => node.className);
  const add = (list) => window.shifts.push(...list.getEntries().flatMap(names));
  window.watching = new PerformanceObserver(add);
  window.watching.observe({ type: "layout-shift" });
}"""
SCROLL = """(to) => new Promise((done) => {
  const main = document.querySelector('[data-testid="stMain"]');
  const step = () => {
    const left = to - main.scrollTop;
    const isThere = Math.abs(left) < 1 || main.scrollTop + main.clientHeight >= main.scrollHeight;
    if (isThere && !(left < 0)) requestAnimationFrame(() => requestAnimationFrame(done));
    else {
      main.scrollTop += Math.sign(left) * Math.min(40, Math.abs(left));
      requestAnimationFrame(step);
    }
  };
  step();
})"""
"""As by a wheel, 40 pixels a frame."""
FOCUSED = "document.activeElement.closest('[class*=st-key]')?.className ?? ''"


COVERED = """() => [...document.querySelectorAll('[data-testid="stHeader"] button')]
  .filter((button) => button.checkVisibility({ visibilityProperty: true }))
  .filter((button) => {
    const { left, top, width, height } = button.getBoundingClientRect();
    return !button.contains(document.elementFromPoint(left + width / 2, top + height / 2));
  }).map((button) => button.ariaLabel ?? button.textContent)"""
"""The buttons of the line that take the focus though something lies over them."""
IS_CUT = """(input) => {
  const context = document.createElement("canvas").getContext("2d");
  const { font, paddingLeft, paddingRight } = getComputedStyle(input);
  context.font = font;
  const room = input.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
  return context.measureText("en-de-small").width > room;
}"""
SIZES = {"laptop": DESKTOP, "tablet": TABLET, "phone": PHONE, "zoomed": ZOOMED}
FEW = {"beside the menus": "laptop"}


@pytest.mark.thorough
@pytest.mark.parametrize("name", cases(SIZES, FEW))
def test_sentence_and_checkpoint_stay_in_one_line_and_nothing_jumps(
    page: Page, address: str, name: str
) -> None:
    size = SIZES[name]
    page.set_viewport_size(size)  # type: ignore[arg-type]
    visit(page, f"{address}/compare")
    expect(page.locator(".head-view[data-nonce]")).to_have_count(2)
    painted(page)
    sentence = page.get_by_label("Sentence", exact=True)
    checkpoint = page.get_by_label("Checkpoint", exact=True)
    order = tabbed(page)
    page.evaluate(WATCH)
    page.evaluate(SCROLL, 400)
    boxes = [each.bounding_box() for each in (sentence, checkpoint)]
    assert all(box and box["y"] >= 0 and box["y"] + box["height"] <= 60 for box in boxes)
    assert boxes[0]["x"] + boxes[0]["width"] < boxes[1]["x"]  # type: ignore[index]
    assert boxes[1]["x"] + boxes[1]["width"] < size["width"]  # type: ignore[index]
    assert page.evaluate(COVERED) == []
    assert not checkpoint.evaluate(IS_CUT)
    page.evaluate(SCROLL, 0)
    box = sentence.bounding_box()
    assert box and box["y"] > 60
    assert page.evaluate("window.shifts") == []  # nothing but the two fields
    page.evaluate(SCROLL, 400)
    assert tabbed(page) == order
    page.evaluate(SCROLL, 400)
    assert faults(page) == []
    sentence.fill(LONG)
    sentence.press("Enter")
    becomes(lambda: parameter(page, "text"), LONG)
    painted(page)
    box = sentence.bounding_box()
    assert box and box["y"] < 60
    page.evaluate(SCROLL, 0)


def test_sentence_comes_to_the_line_as_soon_as_the_navigation_covers_it(
    page: Page, address: str
) -> None:
    page.set_viewport_size(DESKTOP)
    visit(page, f"{address}/compare")
    expect(page.locator(".head-view[data-nonce]")).to_have_count(2)
    painted(page)
    page.evaluate(SCROLL, 60)
    page.get_by_label("Sentence", exact=True).click(trial=True)  # nothing lies over it
    page.evaluate(SCROLL, 0)


def tabbed(page: Page) -> list[str]:
    """The places to which Tab leads from the sentence on."""
    page.get_by_label("Sentence").focus()
    places = []
    for _ in range(3):
        page.keyboard.press("Tab")
        places.append(page.evaluate(FOCUSED))
    return places
