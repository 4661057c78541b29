"""A click hits what it aims at: nothing moves below the pointer by it, and each press counts."""

from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs, quote_plus, urlparse

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.server import becomes, painted
from tests.browser.test_app import open_app, parameter
from tests.browser.test_head_map import place
from tests.representatives import cases

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

SPOT = (Path(__file__).parent / "spot.js").read_text("utf-8")
WIDTHS = {390: 844, 720: 900, 1280: 720, 1440: 900, 1920: 1080}
"""Width -> height of the window."""
OTHER = quote_plus("The bank on the river was full of flowers.")
"""A sentence of which nobody knows yet which words need which: a click on one asks for it."""
SOURCE, TARGET = (f".token-rows .chip[data-side={side}]" for side in ("source", "target"))
CELL, TOKEN = ".head-grid .cell", ".head-view .token"


@dataclass(frozen=True)
class Spot:
    """Something to click, and what a second click there does."""

    path: str
    selector: str
    nth: int = 0
    again: Literal["takes back", "changes nothing", "goes on"] = "takes back"
    parts: bool = False
    """True: what is above the thing may be higher then, as a head has more rows than another."""


SPOTS = {
    "a tool": Spot("?kind=cross", ".st-key-experiment-on button:visible", parts=True),
    "a head": Spot("?tool=look", CELL, 30, "changes nothing", parts=True),
    "a head to switch off": Spot("?tool=heads", CELL, 30),
    "the last head to switch off": Spot("?tool=heads", CELL, 71),
    "a head where arrows are cut": Spot("?tool=arrows", CELL, 30, "changes nothing", parts=True),
    "an arrow to cut": Spot("?tool=arrows", ".head-view .wires", 0, "changes nothing"),
    "a cell to cut": Spot("?tool=arrows&picture=map", ".head-map .stage", 0, "changes nothing"),
    "a query": Spot("", TOKEN, 3),
    "a query where heads are switched off": Spot("?tool=heads", TOKEN, 3),
    "a query where arrows are cut": Spot("?tool=arrows", TOKEN, 3),
    "a key": Spot("", TOKEN, 20),
    "a head beside others": Spot("", ".head-view .swatch", 3),
    "a word that is read": Spot("", SOURCE, 1),
    "a word that is written": Spot(f"?text={OTHER}", TARGET, 4),
    "a word where heads are switched off": Spot(f"?tool=heads&text={OTHER}", TARGET, 4),
    "a word where arrows are cut": Spot(f"?tool=arrows&text={OTHER}", TARGET, 4),
    "a word beside a heat map": Spot("?picture=map", TARGET, 4),
    "a word beside one cell": Spot("?picture=inside", TARGET, 2),
    "a word in the place of the picture": Spot("?picture=why", TARGET, 2),
    "a word of a step": Spot(f"decode?text={OTHER}", TARGET, 2),
    "a word of two models": Spot("compare", TARGET, 2),
    "a query of two models": Spot("compare", TOKEN, 3),
    "a word over positions": Spot("positions", TARGET, 2),
    "a word over masks": Spot("masks", TARGET, 2),
    "a word over a sweep": Spot("sweep", TARGET, 2),
    "a word over a training": Spot("training", TARGET, 2),
    "a word over lessons": Spot("lessons", TARGET, 2),
    "the tint": Spot("", ".token-rows .tint button"),
    "the tint of a step": Spot("decode", ".token-rows .tint button"),
    "lines between words": Spot("", ".token-rows .alignment button", parts=True),
    "a step": Spot("decode", ".decode-player .next", 0, "goes on"),
    "a place of all steps": Spot("decode", ".decode-player .name", 3, "changes nothing"),
    "a snapshot": Spot(
        "training?checkpoint=copy&topic=heads&snapshot=5", ".snapshot-player .next", 0, "goes on"
    ),
    "a head of a training": Spot(
        "training?checkpoint=copy&topic=heads&snapshot=20",
        ".snapshot-player .head",
        3,
        "changes nothing",
    ),
    "a token of one cell": Spot("?picture=inside", ".competitor", 2, "changes nothing"),
}
"""What is clicked on each page that has heads, words or cells, with each of the tools."""
UNSEEN = {("the tint", 390), ("the tint of a step", 390), ("lines between words", 390)}
"""On a phone they are below the words until they are asked for."""
EVERY = [each for each in product(SPOTS, WIDTHS) if each not in UNSEEN]
FEW = {
    "a tool that opens": ("a tool", 1440),
    "the same below each other": ("an arrow to cut", 390),
    "signs that come by a click": ("a word of a step", 1440),
    "a row that is parted from the next": ("lines between words", 1440),
    "a sentence that goes": ("a snapshot", 1440),
}


@pytest.mark.parametrize(("name", "width"), cases(EVERY, FEW))
def test_two_clicks_at_one_spot_hit_the_same(
    page: Page, address: str, name: str, width: int
) -> None:
    spot = SPOTS[name]
    page.set_viewport_size({"width": width, "height": WIDTHS[width]})
    open_app(page, f"{address}/{spot.path}")
    page.evaluate(SPOT)
    thing = page.locator(spot.selector).nth(spot.nth)
    expect(thing).to_be_visible()
    thing.scroll_into_view_if_needed()
    drawn(page)
    at = middle(page, thing, spot)
    page.mouse.move(*at)
    drawn(page)
    before = address_of(page)
    page.evaluate("at => spot.watch(...at)", at)
    page.mouse.click(*at)
    becomes(lambda: address_of(page) != before, True)
    assert_steady(page, spot)
    once = address_of(page)
    page.mouse.click(*at)
    if spot.again == "goes on":
        becomes(lambda: address_of(page) in (before, once), False)
    else:
        becomes(lambda: address_of(page), before if spot.again == "takes back" else once)
    assert_steady(page, spot)
    assert spot.again == "goes on" or address_of(page) in (before, once)


def assert_steady(page: Page, spot: Spot) -> None:
    """In each frame since the first click."""
    drawn(page)
    seen = page.evaluate("spot.seen()")
    assert 0 <= seen["moved"] < 1, seen
    assert seen["others"] == [], seen
    assert spot.parts or seen["below"] < 1, seen


def drawn(page: Page) -> None:
    """Wait until the page is drawn, and nothing waits for a moment to go on."""
    painted(page)
    page.wait_for_function("isAtRest()")
    painted(page)


def address_of(page: Page) -> dict[str, list[str]]:
    """The parts of it, which browser and server spell in two ways."""
    return parse_qs(urlparse(page.evaluate("location.href")).query)


def middle(page: Page, thing: Locator, spot: Spot) -> tuple[float, float]:
    """The spot in the window: of lines, where one begins; of a map, one of its cells."""
    if spot.selector.endswith(".stage"):
        x, y = place(page, page.locator(".head-map[data-nonce]"), 1, 1)
        return x, y
    box: Any = thing.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    if spot.selector.endswith(".wires"):
        token: Any = page.locator(".head-view [data-token=q1]").bounding_box()
        x, y = box["x"] + 30, token["y"] + token["height"] / 2
    return x, y


@pytest.mark.parametrize("width", cases([1280, 1440, 1920], {"a tree": 1440}))
def test_a_hypothesis_is_chosen_where_it_stands(page: Page, address: str, width: int) -> None:
    """Nor does the tree move by it: what is decided comes at the foot of the window. Where the tree
    is a list it unfolds what is chosen."""
    page.set_viewport_size({"width": width, "height": WIDTHS[width]})
    open_app(page, f"{address}/decode")
    pieces = page.locator(".search-tree .node .piece")
    thing = pieces.nth(3)
    expect(thing).to_be_visible()
    drawn(page)
    text, box = thing.inner_text(), thing.bounding_box()
    thing.click()
    becomes(lambda: parameter(page, "branch") is not None, True)
    expect(page.locator(".st-key-branches")).to_be_in_viewport()
    drawn(page)
    now = pieces.nth(3).bounding_box()
    assert box and now and pieces.nth(3).inner_text() == text
    assert abs(now["x"] - box["x"]) < 1 and abs(now["y"] - box["y"]) < 1


@pytest.mark.parametrize("path", cases(["?tool=heads", "decode"], {"a tree": "decode"}))
def test_signs_of_words_add_no_line(page: Page, address: str, path: str) -> None:
    """Their legend is as long as the line has room for."""
    heights = "all => all.map(each => each.getBoundingClientRect().height)"
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": WIDTHS[width]})
        open_app(page, f"{address}/{path}")
        rows = page.locator(".token-rows .tokens")
        expect(rows.locator(".chip.parted").first).to_be_visible()
        signed = rows.evaluate_all(heights)
        taken = "all => all.forEach(each => each.classList.remove('parted', 'lost'))"
        rows.locator(".chip").evaluate_all(taken)
        rows.locator(".signs").evaluate_all("all => all.forEach(each => each.replaceChildren())")
        assert rows.evaluate_all(heights) == signed


REDRAW = """node => {
  const again = node.cloneNode(true);
  node.replaceWith(again);
  window.isGone = !node.isConnected;
}"""
"""Draw it anew, as a text that is still written, a sweep or a preview does."""
PRESSED = {
    "a word": ("", SOURCE, 1, "pins", "k1"),
    "a step of the tree": ("decode", ".search-tree .node .piece", 5, "branch", None),
    "a place of all steps": ("decode", ".decode-player .name", 3, "step", "3"),
    "a head beside others": ("", ".head-view .swatch", 3, "heads", "2,3"),
    "a query": ("", TOKEN, 3, "pins", "q3"),
    "a number of a head": ("?show=entropy", f"{CELL} .value", 30, "kind", "decoder_self"),
}
"""What is pressed, and the part of the address that a click there writes (None: any value)."""


@pytest.mark.parametrize("name", cases(PRESSED, {"what is drawn anew": "a word"}))
def test_a_press_counts_though_what_is_pressed_is_drawn_anew(
    page: Page, address: str, name: str
) -> None:
    path, selector, nth, part, value = PRESSED[name]
    open_app(page, f"{address}/{path}")
    thing = page.locator(selector).nth(nth)
    expect(thing).to_be_visible()
    drawn(page)
    thing.hover()
    page.mouse.down()
    thing.evaluate(REDRAW)
    assert page.evaluate("window.isGone")
    page.mouse.up()
    if value is None:
        becomes(lambda: parameter(page, part) is not None, True)
    else:
        becomes(lambda: parameter(page, part), value)
    drawn(page)  # and counts once
    assert value is None or parameter(page, part) == value


EDITS = "edits=head-off:cross.1.7/head-off:cross.2.2"


def test_what_a_strip_opens_at_the_foot_has_room(page: Page, address: str) -> None:
    """It opens upwards, and nothing lies over it where a pointer has come from its button."""
    open_app(page, f"{address}/?{EDITS}")
    strip = page.locator(".st-key-decided")
    strip.get_by_role("button", name="Proof").click()
    lines = page.locator(".st-key-proof p")
    expect(lines.nth(2)).to_be_visible()
    drawn(page)
    body: Any = page.get_by_test_id("stPopoverBody").bounding_box()
    assert body["height"] > 200 and body["y"] >= 0
    page.keyboard.press("Escape")
    expect(lines).to_have_count(0)
    chip: Any = strip.get_by_role("button", name="Cross L1 H7 off").bounding_box()
    page.mouse.move(chip["x"] + 20, chip["y"] + 20)
    page.mouse.click(chip["x"] + 20, chip["y"] + 20)
    back = page.get_by_role("button", name="Take it back")
    expect(back).to_be_visible()
    drawn(page)
    box: Any = back.bounding_box()
    page.mouse.move(box["x"] + 30, box["y"] + 10, steps=8)
    page.mouse.click(box["x"] + 30, box["y"] + 10)
    becomes(lambda: parameter(page, "edits"), "head-off:cross.2.2")
    expect(strip.get_by_role("link", name="Compare both")).to_be_visible()
