"""The large map in a browser: what it says equals what Python computes, and it can be touched."""

import re
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from tests.browser.apps.maps import drawn, translated
from tests.browser.sentences import SAID, said
from tests.browser.server import painted

pytestmark = [pytest.mark.browser, pytest.mark.same_page]


def open_map(page: Page, apps: str, query: str) -> Locator:
    page.goto(f"{apps}head_map&{query}")
    page.wait_for_selector(".head-map[data-nonce]")
    painted(page)
    return page.locator(".head-map")


def numbers(shown: Locator, name: str) -> list[float]:
    return [float(number) for number in str(shown.get_attribute(f"data-{name}")).split(",")]


def place(page: Page, shown: Locator, row: float, column: float) -> tuple[float, float]:
    """The middle of a cell, in pixels of the page."""
    page.evaluate("document.fonts.ready.then(() => true)")  # they move what stands below
    x, y, width, height = numbers(shown, "plot")
    top, bottom, left, right = numbers(shown, "window")
    box = shown.locator(".stage").bounding_box()  # a cell, inside, has others
    assert box is not None
    return (
        box["x"] + x + (column - left + 0.5) * width / (right - left),
        box["y"] + y + (row - top + 0.5) * height / (bottom - top),
    )


def drag(page: Page, shown: Locator, start: tuple[int, int], end: tuple[int, int]) -> None:
    page.mouse.move(*place(page, shown, *start))
    page.mouse.down()
    page.mouse.move(*place(page, shown, *end), steps=4)
    page.mouse.up()


def test_hovering_says_what_python_computes(page: Page, apps: str) -> None:
    shown = open_map(page, apps, "of=cross&layer=2&head=3")
    expect(shown).to_have_attribute("data-id", "cross L2 H3")
    for row, column in ((0, 0), (1, 1), (3, 6), (9, 9), (13, 15)):
        page.mouse.move(*place(page, shown, row, column))
        expect(page.locator(SAID)).to_have_text(said(translated("cross"), 2, 3, row, column))


def test_masked_cells_say_so(page: Page, apps: str) -> None:
    shown = open_map(page, apps, "of=decoder_self&layer=1&head=3")
    page.mouse.move(*place(page, shown, 2, 7))
    expect(page.locator(SAID)).to_have_text(re.compile(r"may not look at .* \(masked\)\.$"))
    expect(shown.locator(".legend")).to_contain_text("masked")


def test_a_click_chooses_a_cell_and_stays(page: Page, apps: str) -> None:
    shown = open_map(page, apps, "of=cross")
    for row, column in ((4, 2), (7, 11)):
        page.mouse.click(*place(page, shown, row, column))
        expect(shown).to_have_attribute("data-selected", f"{row},{column}")
        expect(page.get_by_text(f"chosen ({row}, {column})")).to_be_visible()
    painted(page)
    expect(shown).to_have_attribute("data-selected", "7,11")


def test_the_keyboard_reads_and_chooses_cells(page: Page, apps: str) -> None:
    open_map(page, apps, "of=cross&layer=2&head=3")
    map = translated("cross")
    stage = page.get_by_role("grid")
    stage.focus()
    start = int(map.values(2, 3)[0].argmax())
    live = page.locator("[aria-live=polite] .said")
    for key, row, column in (
        ("ArrowDown", 1, start),
        ("ArrowRight", 1, start + 1),
        ("End", 1, len(map.columns) - 1),
        ("Home", 1, 0),
        ("ArrowUp", 0, 0),
        ("ArrowUp", 0, 0),
        ("PageDown", len(map.rows) - 1, 0),
    ):
        stage.press(key)
        expect(live).to_have_text(said(map, 2, 3, row, column))
        expect(page.get_by_role("gridcell")).to_have_text(said(map, 2, 3, row, column))
    stage.press("Enter")
    expect(page.get_by_text(f"chosen ({len(map.rows) - 1}, 0)")).to_be_visible()


def test_the_map_and_the_token_rows_point_at_each_other(page: Page, apps: str) -> None:
    shown = open_map(page, apps, "of=cross")
    page.mouse.move(*place(page, shown, 3, 5))
    expect(page.locator('.chip[data-side="target"][data-position="3"]')).to_have_class(
        re.compile("pointed")
    )
    x, bottom = place(page, shown, len(translated("cross").rows) - 0.5, 6)
    page.mouse.move(x, bottom + 15)
    expect(page.locator('.chip[data-side="source"][data-position="6"]')).to_have_class(
        re.compile("pointed")
    )
    page.locator('.chip[data-side="source"][data-position="4"]').hover()
    expect(shown).to_have_attribute("data-pointed", "-1,4")


def test_a_box_zooms_without_the_server_where_values_are_exact(page: Page, apps: str) -> None:
    shown = open_map(page, apps, "of=cross")
    drag(page, shown, (2, 3), (8, 10))
    expect(shown).to_have_attribute("data-window", "2,9,3,11")
    expect(shown).to_have_attribute("data-selected", "")
    page.mouse.move(*place(page, shown, 5, 6))
    expect(page.locator(SAID)).to_have_text(said(translated("cross"), 0, 0, 5, 6))
    page.get_by_role("button", name="whole map").click()
    n_rows, n_columns = len(translated("cross").rows), len(translated("cross").columns)
    expect(shown).to_have_attribute("data-window", f"0,{n_rows},0,{n_columns}")
    expect(page.get_by_text("region None")).to_be_visible()


def test_a_long_map_is_pooled_and_zooming_reaches_exact_values(page: Page, apps: str) -> None:
    map = drawn(700, 650)
    shown = open_map(page, apps, "of=700x650")
    expect(shown).to_have_attribute("data-exact", "false")
    expect(shown.locator(".legend")).to_contain_text("largest of 2 × 2")
    page.mouse.move(*place(page, shown, 400.5, 300.5))
    block = map.values(0, 0)[400:402, 300:302]
    expect(page.locator(SAID)).to_contain_text(f"({block.max():.3f})")
    where = "Pointed at: the largest of 2 × 2 cells, rows 400–401, columns 300–301"
    expect(page.locator(".why")).to_have_text(where)
    drag(page, shown, (350, 320), (389, 359))
    expect(shown.locator(".waiting")).to_have_text("loading exact values")
    expect(shown).to_have_attribute("data-exact", "true")
    expect(shown.locator(".waiting")).to_be_hidden()
    top, _, left, _ = (int(number) for number in numbers(shown, "window"))
    for row, column in ((top, left), (top + 7, left + 12), (top + 30, left + 30)):
        page.mouse.move(*place(page, shown, row, column))
        expect(page.locator(SAID)).to_have_text(said(map, 0, 0, row, column))
    page.mouse.dblclick(*place(page, shown, top + 3, left + 3))
    expect(shown).to_have_attribute("data-window", "0,700,0,650")


def test_a_click_on_a_pooled_map_chooses_the_largest_of_the_block(page: Page, apps: str) -> None:
    shown = open_map(page, apps, "of=700x650")
    page.mouse.click(*place(page, shown, 400.5, 300.5))
    row, column = divmod(int(drawn(700, 650).values(0, 0)[400:402, 300:302].argmax()), 2)
    expect(page.get_by_text(f"chosen ({400 + row}, {300 + column})")).to_be_visible()


def test_the_keyboard_zooms_to_exact_values(page: Page, apps: str) -> None:
    map = drawn(700, 650)
    shown = open_map(page, apps, "of=700x650")
    stage = page.get_by_role("grid")
    stage.focus()
    for _ in range(4):
        stage.press("+")
    expect(shown).to_have_attribute("data-exact", "true")
    top, _, left, _ = (int(number) for number in numbers(shown, "window"))
    column = int(map.values(0, 0)[0].argmax())
    stage.press("ArrowDown")
    expect(page.locator(SAID)).to_have_text(said(map, 0, 0, 1, column))
    assert top == 0 and left <= column
    stage.press("0")
    expect(shown).to_have_attribute("data-window", "0,700,0,650")


def test_the_legend_says_what_shades_and_the_line_are(page: Page, apps: str) -> None:
    shown = open_map(page, apps, "of=cross&path=1")
    expect(shown.locator(".legend")).to_contain_text("darker = more (square-root scale)")
    expect(shown.locator(".legend")).to_contain_text("line: each row's largest weight")
    shown = open_map(page, apps, "of=700x650&path=1")
    expect(shown.locator(".legend")).to_contain_text("dots: each row's largest weight")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_fault(page: Page, apps: str, scheme: Literal["light", "dark"]) -> None:
    page.emulate_media(color_scheme=scheme)
    shown = open_map(page, apps, "of=decoder_self&path=1")
    assert "Strongest: After reading" in str(page.get_by_role("grid").get_attribute("aria-label"))
    more = {"light": "darker", "dark": "brighter"}[scheme]
    expect(shown.locator(".legend")).to_contain_text(f"{more} = more")
    drag(page, shown, (2, 2), (9, 9))
    expect(page.get_by_role("button", name="whole map")).to_be_visible()
    page.mouse.move(*place(page, shown, 5, 4))
    found = Axe().run(page, context=".stBidiComponent, [data-testid='stBidiComponentRegular']")
    assert [fault["id"] for fault in found.response["violations"]] == []
