"""One sentence above the picture: every picture says the same of the same cell."""

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect

from tests.browser.sentences import said, says, strongest
from tests.browser.server import DESKTOP, PHONE, becomes
from tests.browser.test_app import visit
from tests.browser.test_explore import choose_picture, open_cell, open_picture
from tests.browser.test_head_map import place
from tests.browser.test_head_view import token
from tests.representatives import cases
from transformer import Recording
from transformer.analysis.reading import AttentionMap, Reading, read

pytestmark = [pytest.mark.browser, pytest.mark.same_page]
HEAD = "tokens=pieces&layer=2&head=3"
ROOM = "n => n.nextElementSibling.getBoundingClientRect().top - n.getBoundingClientRect().top"
"""Pixels from the sentence's upper edge to what follows it."""


@pytest.fixture
def map(recording: Recording) -> AttentionMap:
    return read(recording, "cross")


def source(page: Page, picture: str, position: int) -> Locator:
    return page.locator(f'.{picture} [data-side="source"][data-position="{position}"]').last


def test_every_picture_says_the_same_of_a_cell(page: Page, address: str, map: AttentionMap) -> None:
    cell, expected = (4, 9), said(map, 2, 3, 4, 9)
    open_picture(page, address, f"{HEAD}&pins=q4", "head-view")
    token(page, "k9").hover()
    says(page, expected, "Pinned and pointed at")
    choose_picture(page, "Heat map")
    shown = page.locator(".head-map[data-plot]")
    page.mouse.move(*place(page, shown, *cell))
    says(page, expected, "Pointed at")
    open_cell(page, shown, *cell)
    page.mouse.move(0, 0)
    says(page, expected, "This cell, step by step")
    page.locator('.competitor[data-key="7"]').hover()
    says(page, said(map, 2, 3, 4, 7), "Pointed at")
    visit(page, f"{address}/decode?{HEAD}&step=4")
    source(page, "decode-player", 9).hover()
    says(page, expected, "Pointed at")


def test_nothing_pointed_at_is_the_strongest_of_the_head(
    page: Page, address: str, map: AttentionMap
) -> None:
    of_head, step = strongest(map, 2, 3), int(map.values(2, 3)[4].argmax())
    open_picture(page, address, HEAD, "head-view")
    says(page, of_head, "The strongest line of this head")
    choose_picture(page, "Heat map")
    says(page, of_head, "The strongest cell of this head")
    choose_picture(page, "Inside")
    says(page, of_head, "This cell, step by step")
    visit(page, f"{address}/decode?{HEAD}&step=4")
    says(page, said(map, 2, 3, 4, step), "The strongest of this step")


@pytest.mark.parametrize("picture", ["arrows", "map", "inside"])
def test_a_head_of_the_grid_speaks_above_the_large_picture(
    page: Page, address: str, map: AttentionMap, picture: str
) -> None:
    visit(page, f"{address}/?{HEAD}&picture={picture}")
    line = page.locator(".sentence:visible")
    own = strongest(map, 2, 3)
    expect(line.locator(".said")).to_have_text(own)
    room = line.evaluate(ROOM)
    page.get_by_role("gridcell", name="Cross L1 H2:").hover()
    says(page, strongest(map, 1, 2), "Pointed at: the strongest cell of this head")
    assert line.evaluate(ROOM) == room
    page.mouse.move(0, 0)
    expect(line.locator(".said")).to_have_text(own)


def test_the_row_of_tokens_speaks_in_every_picture(
    page: Page, address: str, map: AttentionMap
) -> None:
    expected = said(map, 2, 3, 6, int(map.values(2, 3)[6].argmax()))
    for picture in ("arrows", "map"):
        page.mouse.move(0, 0)
        visit(page, f"{address}/?{HEAD}&picture={picture}")
        expect(page.locator(".sentence:visible .said")).to_have_text(strongest(map, 2, 3))
        page.locator('.token-rows [data-side="target"][data-position="6"]').hover()
        expect(page.locator(".sentence:visible .said")).to_have_text(expected)


def test_rows_that_were_read_and_other_measures_say_so(
    page: Page, address: str, map: AttentionMap
) -> None:
    read_rows = read(map.recording, "cross", Reading(rows="read"))
    visit(page, f"{address}/?{HEAD}&rows=read")
    says(page, strongest(read_rows, 2, 3), "The strongest line of this head")
    rollout = read(map.recording, "cross", Reading("rollout"))
    visit(page, f"{address}/?{HEAD}&lens=rollout")
    says(page, strongest(rollout, 2, 0), "The strongest line of this layer")
    visit(page, f"{address}/decode?{HEAD}&step=1&mean=yes")
    expect(page.locator(".said")).to_contain_text("the heads of layer 2 look at")
    expect(page.locator(".said")).to_contain_text(" on average).")


WHOLE = [
    (PHONE, f"?{HEAD}"),
    (PHONE, f"?{HEAD}&lens=sum_norm"),
    (PHONE, f"?{HEAD}&kind=encoder_self&picture=map"),
    (DESKTOP, "compare?lens=value_norm"),
]
FEW = {"a lens, which is named, too": WHOLE[1], "half of the width": WHOLE[3]}


@pytest.mark.parametrize(("size", "query"), cases(WHOLE, FEW))
def test_the_whole_sentence_is_seen(
    page: Page, address: str, size: ViewportSize, query: str
) -> None:
    page.set_viewport_size(size)
    visit(page, f"{address}/{query}")
    text = page.locator(".sentence:visible p").first
    expect(text.locator("em").first).to_be_visible()
    becomes(lambda: text.evaluate("node => node.scrollHeight <= node.clientHeight"), True)
    assert text.evaluate("node => parseFloat(getComputedStyle(node).fontSize)") >= 16
