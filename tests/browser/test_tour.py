"""The first screen says what it is, and a tour points at the real things of it."""

import re

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.server import becomes
from tests.browser.test_accessibility import COLOURS, faults, switch
from tests.browser.test_app import open_app, parameter, visit
from tests.representatives import cases, thorough
from viz.components.tour.tour import EFFECTS
from viz.theme import DARK

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

N_STEPS = 6
PHONE: ViewportSize = {"width": 390, "height": 844}


def is_ringed(page: Page) -> bool:
    """Tell whether what the tour rings is in sight, with the panel beside it and not over it."""
    ring, panel = (page.locator(f".tour .{name}").bounding_box() for name in ("ring", "panel"))
    if ring is None or panel is None:
        return False  # it is not drawn yet
    width, height = page.evaluate("[innerWidth, innerHeight]")
    in_sight = all(
        each["y"] >= 0 and each["y"] + each["height"] <= height and each["x"] + 8 < width
        for each in (ring, panel)
    )
    is_beside = any(
        one[start] + one[size] <= other[start]
        for start, size in (("x", "width"), ("y", "height"))
        for one, other in ((ring, panel), (panel, ring))
    )
    return ring["width"] > 16 and in_sight and is_beside


def begin(page: Page) -> None:
    """Press the button, as somebody does who reads the line."""
    page.locator(".tour .start").press("Enter")
    expect(page.locator(".tour .panel")).to_be_visible()


@pytest.mark.parametrize("size", [None, thorough(PHONE)], ids=["laptop", "phone"])
def test_each_step_rings_what_is_on_the_screen_and_the_last_leads_on(
    page: Page, address: str, size: ViewportSize | None
) -> None:
    if size is not None:
        page.set_viewport_size(size)
    visit(page, address)
    expect(page.locator(".token-rows .chip.parted").first).to_be_visible()
    expect(page.locator(".tour .words")).to_be_visible()
    parted = page.locator(".token-rows .chip.parted").first.inner_text()
    begin(page)
    told = []
    for i in range(N_STEPS):
        becomes(lambda: is_ringed(page), True)
        told.append(page.locator(".tour #tour-text").inner_text())
        if i == 3 and size is None:  # of the sentence on the screen
            assert f"“{parted}”" in told[-1]
            assert faults(page) == []
            switch(page, DARK)
            assert faults(page, COLOURS) == []
        if i + 2 == N_STEPS and size is not None:  # the button of the menus has its name again
            page.get_by_test_id("stMain").evaluate("node => node.scrollTo(0, 600)")
            becomes(lambda: page.evaluate("document.documentElement.dataset.header"), "line")
        if i + 1 < N_STEPS:
            page.keyboard.press("ArrowRight" if i % 2 else "Enter")
    assert len(set(told)) == N_STEPS
    becomes(lambda: page.evaluate("document.documentElement.dataset.header ?? ''"), "")
    page.locator(".tour .more a", has_text="Lessons").click()
    page.wait_for_url("**/lessons*")
    expect(page.locator(".tour .panel")).to_be_hidden()


@pytest.mark.parametrize("size", [None, thorough(PHONE)], ids=["laptop", "phone"])
def test_what_it_promises_of_the_first_sentence_happens_by_its_clicks(
    page: Page, address: str, size: ViewportSize | None
) -> None:
    if size is not None:
        page.set_viewport_size(size)
    visit(page, address)
    text, effect = next(iter(EFFECTS.items()))
    expect(page.get_by_label("Sentence").first).to_have_value(text)
    output = page.locator(".text-lines dd").nth(1)
    begin(page)
    said = page.locator(".tour #tour-text")
    for _ in range(N_STEPS - 2):
        page.locator(".tour .next").press("Enter")
    for name in (effect.squares, effect.outcome):
        expect(said).to_contain_text(name)
    asks = said.inner_text()
    page.get_by_role("button", name="Experiment").click()
    grid = page.locator('.head-grid[data-tool="heads"]')
    expect(grid).to_be_visible()
    expect(said).not_to_have_text(asks)  # what it asked for is done
    made: list[str] = []
    for (layer, head), edit in zip(effect.heads, effect.edits, strict=True):
        made.append(edit)
        expect(said).to_contain_text(effect.squares)  # until the last one is off
        cell = re.compile(rf"^Cross L{layer} H{head}[:,]")
        grid.get_by_role("gridcell", name=cell).click()
        becomes(lambda: parameter(page, "edits"), "/".join(made))
    expect(output).to_contain_text("Straße")
    expect(output).not_to_contain_text(effect.gone)
    page.get_by_role("button", name="All off").click()
    expect(page.locator(".text-lines")).to_have_count(0)
    page.keyboard.press("Escape")


def is_apart(page: Page) -> bool:
    """Whether the line stands beside the navigation or below it."""
    line = page.locator(".tour .words").bounding_box()
    menu = page.get_by_test_id("stTopNavSection").last.bounding_box()
    assert line is not None and menu is not None
    return menu["x"] + menu["width"] <= line["x"] or menu["y"] + menu["height"] <= line["y"]


def test_escape_ends_it_where_it_began_and_it_is_not_offered_again(
    page: Page, address: str
) -> None:
    visit(page, address)
    for width in (1281, 1400, 1440):  # the line is beside the navigation, or below it
        page.set_viewport_size({"width": width, "height": 900})
        becomes(lambda: is_apart(page), True)
    top = page.locator(".head-grid").bounding_box()
    begin(page)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    expect(page.locator(".tour .panel")).to_be_hidden()
    expect(page.locator(".tour .start")).to_be_focused()
    expect(page.locator(".tour .words")).to_be_hidden()
    assert page.locator(".head-grid").bounding_box() == top
    page.reload()
    expect(page.locator(".tour .start")).to_be_visible()
    expect(page.locator(".tour .words")).to_be_hidden()
    begin(page)  # the button brings it back
    page.locator(".tour .skip").click()


def test_the_address_begins_it_and_tab_leads_out_of_it(page: Page, address: str) -> None:
    page.goto("about:blank")
    open_app(page, f"{address}/#tour")
    expect(page.locator(".tour .next")).to_be_focused()
    assert "#" not in page.evaluate("location.href")
    page.keyboard.press("Tab")
    expect(page.locator(".tour .panel :focus")).to_have_count(0)
    expect(page.locator(".tour .panel")).to_be_visible()
    page.get_by_role("textbox").first.press_sequentially("!")  # the page is as live as ever
    page.keyboard.press("Escape")
    expect(page.locator(".tour .panel")).to_be_hidden()


UNDER = """([x, y]) => {
    let node = document.elementFromPoint(x, y);
    while (node?.shadowRoot) node = node.shadowRoot.elementFromPoint(x, y);
    return Boolean(node?.closest('.head-grid .cell'));
}"""
"""Whether a square is what the mouse at a place lies on."""


def test_the_mouse_that_pressed_next_points_at_nothing_until_it_is_moved(
    page: Page, address: str
) -> None:
    visit(page, address)
    expect(page.locator(".token-rows .chip.parted").first).to_be_visible()
    page.locator(".tour .start").click()
    pointed, n_over = page.locator(".head-view .sentence .why", has_text="Pointed at"), 0
    for _ in range(N_STEPS - 1):
        becomes(lambda: is_ringed(page), True)
        box = page.locator(".tour .next").bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.up()
        becomes(lambda: is_ringed(page), True)
        page.mouse.move(x + 1, y)  # as a hand shakes
        expect(pointed).to_have_count(0)
        if page.evaluate(UNDER, [x, y]):
            n_over += 1
            page.mouse.move(x + 12, y)
            expect(pointed).not_to_have_count(0)  # the next step rests it again
    assert n_over, "no step left the mouse on a square"
    page.keyboard.press("Escape")


WALL = "?story=masks&scene=1&role=stage"


def test_no_wall_offers_it(page: Page, address: str) -> None:
    visit(page, f"{address}/{WALL}")
    expect(page.locator(".tour")).to_have_count(0)


PLACES = {
    "decode?text=It+rains.": "Es regnet.",
    "heads?checkpoint=copy": "copy",
    "gallery": "Effects of attention",
    "lessons?story=masks&checkpoint=copy": "Masks",
}
"""Pages, and what their line says: of what is written, of the checkpoint, and of no model."""
FEW = {"what is written": "decode?text=It+rains.", "a page without a model": "gallery"}


@pytest.mark.parametrize("place", cases(PLACES, FEW))
def test_each_page_says_what_it_is_and_leads_to_the_tour(
    page: Page, address: str, place: str
) -> None:
    visit(page, f"{address}/{place}")
    expect(page.locator(".tour .words")).to_contain_text(PLACES[place])
    page.locator(".tour .start").click()
    page.wait_for_url(re.compile(r"/(\?[^#]*)?$"))
    expect(page.locator(".tour .panel")).to_be_visible()
    becomes(lambda: is_ringed(page), True)
    if "text=" in place:
        expect(page.get_by_label("Sentence").first).to_have_value("It rains.")
    page.keyboard.press("Escape")
    visit(page, f"{address}/{place}")
    expect(page.locator(".tour .start")).to_be_visible()
    expect(page.locator(".tour .words")).to_be_hidden()
