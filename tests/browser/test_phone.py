"""On a phone: what a tap changes is in sight, a swipe turns, and numbers leave the lines alone."""

from collections.abc import Iterator
from functools import partial

import pytest
from playwright.sync_api import Browser, FloatRect, Locator, Page, expect

from tests.browser.server import PHONE, becomes, painted
from tests.browser.test_app import parameter, visit
from tests.representatives import cases, thorough

pytestmark = pytest.mark.browser

GAPS = """(words) => words.map((word) => {
  const boxes = [...word.children].map((chip) => chip.getBoundingClientRect());
  return boxes.slice(1).map((box, i) => box.left - boxes[i].right + 10 * (box.top - boxes[i].top));
})"""
"""Between the pieces of each word, of those that have several."""
LARGE = ".head-view[data-nonce]"


@pytest.fixture(scope="module")
def phone(browser: Browser) -> Iterator[Page]:
    """One for all of this file: a page is opened by its address."""
    page = browser.new_page(viewport=PHONE, has_touch=True, is_mobile=True, reduced_motion="reduce")
    page.set_default_timeout(60_000)
    yield page
    page.context.close()


IS_WHOLE = """(button) => {
    const [own, row] = [button, button.closest('.tokens')].map((it) => it.getBoundingClientRect());
    return own.height > 0 && own.bottom <= row.bottom + 1;
}"""


def box(found: Locator) -> FloatRect:
    rectangle = found.bounding_box()
    assert rectangle is not None
    return rectangle


def is_in_sight(page: Page, *found: Locator) -> bool:
    """Between the header and the lower edge."""
    top = box(page.get_by_test_id("stHeader"))["height"]
    boxes = [box(each) for each in found]
    return all(top <= each["y"] and each["y"] + each["height"] <= PHONE["height"] for each in boxes)


def test_no_line_breaks_a_word(phone: Page, address: str) -> None:
    text = "The+train+tickets+are+expensive+for+neighbours+of+the+railway+station."
    for path, row in (("", ".token-rows .tokens"), ("decode", ".decode-player .written")):
        visit(phone, f"{address}/{path}?checkpoint=en-de&text={text}")
        words = phone.locator(f"{row} .word")
        expect(words.last).to_be_attached()
        gaps = words.evaluate_all(GAPS)
        assert len(gaps) > 5 and max(len(each) for each in gaps) > 0
        assert not [gap for each in gaps for gap in each if abs(gap) > 0.5], path


@pytest.mark.parametrize("height", cases([844, 664], {"the least": 664}))
def test_sentence_and_picture_are_on_the_first_screen(
    phone: Page, address: str, height: int
) -> None:
    phone.set_viewport_size({"width": 390, "height": height})
    visit(phone, address)
    expect(phone.locator(".tour .words")).to_be_visible()
    expect(phone.locator(".token-rows .chip.parted").first).to_be_visible()
    expect(phone.locator(f"{LARGE} .stage")).to_be_visible()
    painted(phone)
    assert phone.get_by_test_id("stMain").evaluate("node => node.scrollTop") == 0
    becomes(lambda: box(phone.locator(f"{LARGE} .sentence"))["y"] < 450, True)
    third = phone.locator(f"{LARGE} .rows .token").nth(2)
    assert box(third)["y"] + box(third)["height"] < height - 30
    bar = phone.locator(f"{LARGE} .bar")  # what is chosen in it comes below
    assert box(bar)["y"] >= box(phone.locator(f"{LARGE} .box"))["y"] + 200
    key = phone.locator(".token-rows .key", has_text="looks at another word than it needs")
    expect(key).to_be_hidden()
    for is_open in (True, False):
        phone.locator(".token-rows .marks").tap()
        expect(key).to_be_visible(visible=is_open)
    phone.set_viewport_size(PHONE)


@pytest.mark.parametrize(
    ("path", "picture", "most"),
    [
        ("", f"{LARGE} .box", 530),
        ("compare", f"{LARGE} .box", 680),  # both texts come first
        ("heads", ".js-plotly-plot", 462),
        thorough(("positions", ".js-plotly-plot", 632)),
        thorough(("masks", ".js-plotly-plot", 572)),
        thorough(("training", ".snapshot-player .play", 600)),
        thorough(("sweep?sweep_asked=yes&sweep_kind=cross", ".data", 650)),
    ],
)
def test_a_page_begins_with_its_picture(
    phone: Page, address: str, path: str, picture: str, most: int
) -> None:
    """What is chosen for it, and what else is said of it, stands below; above it a line says to who
    has just come what the page is.
    """
    visit(phone, f"{address}/{path}")
    expect(phone.locator(picture).first).to_be_visible()
    becomes(lambda: box(phone.locator(picture).first)["y"] < most, True)
    widths = phone.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert widths[0] == widths[1]


def test_both_pictures_of_compare_are_on_one_screen(phone: Page, address: str) -> None:
    """With the texts of both above them, and the lists of both heads in one column."""
    text = "He+sat+on+the+bank+of+the+river+and+watched+the+children."
    visit(phone, f"{address}/compare?text={text}&checkpoint_b=en-de-1")
    views = phone.locator(f"{LARGE} .box")
    expect(views).to_have_count(2)
    becomes(lambda: box(views.nth(1))["y"] - box(views.nth(0))["y"] < 560, True)
    first, second = (box(views.nth(i)) for i in (0, 1))
    assert second["y"] + second["height"] - first["y"] < PHONE["height"] - 56
    texts = phone.locator(".text-lines dd")
    expect(texts.nth(0)).to_contain_text("Ufer")
    expect(texts.nth(1)).to_contain_text("Bank")
    words = box(phone.locator(".token-rows"))
    assert box(texts.nth(0))["y"] - words["y"] - words["height"] < 30
    assert box(texts.nth(1))["y"] < box(phone.locator(".st-key-second"))["y"] < first["y"]
    lists = [phone.get_by_label(name, exact=True) for name in ("Layer", "Head")]
    for each in lists:
        a, b = (box(each.nth(i))["x"] for i in (0, 1))
        assert abs(a - b) < 3


def test_what_the_sidebar_opens_is_not_below_it(phone: Page, address: str) -> None:
    visit(phone, address)
    phone.get_by_test_id("stExpandSidebarButton").tap()
    field = phone.get_by_role("textbox", name="Open a checkpoint")
    field.fill("checkpoints/no-such")
    field.press("Enter")
    expect(phone.get_by_test_id("stSidebar").get_by_role("alert")).to_be_visible()
    field.fill("checkpoints/copy")
    field.press("Enter")
    expect(phone.get_by_test_id("stSidebar")).to_have_attribute("data-collapsed", "true")
    expect(phone.get_by_test_id("stMain")).to_be_focused()


def come_to(over: Locator) -> None:
    """As people do before they touch it: what stands above it may have grown."""
    over.evaluate("node => node.scrollIntoView({ block: 'center', behavior: 'instant' })")


def drag(page: Page, over: Locator, across: int, down: int = 0) -> None:
    """A finger, from the middle of what it is drawn over."""
    come_to(over)
    area = box(over)
    x, y = area["x"] + area["width"] / 2 - across / 2, area["y"] + area["height"] / 2
    session = page.context.new_cdp_session(page)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        said = {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]}
        session.send("Input.dispatchTouchEvent", said)

    touch("touchStart", (x, y))
    for part in range(1, 6):
        touch("touchMove", (x + across * part / 5, y + down * part / 5))
    touch("touchEnd")


def test_the_picture_that_a_pin_changes_is_in_sight_with_its_sentence(
    phone: Page, address: str
) -> None:
    visit(phone, address)
    view = phone.locator(LARGE)
    chip = phone.locator('.token-rows [data-side="target"]', has_text="Straße")
    chip.tap()
    expect(view).to_have_attribute("data-pins", "q4")
    sentence = view.locator(".sentence")
    expect(sentence).to_contain_text("While writing Straße")
    becomes(lambda: is_in_sight(phone, chip, sentence, view.locator(".box")), True)


def test_what_a_card_and_an_outcome_are_about_is_in_sight(phone: Page, address: str) -> None:
    visit(phone, f"{address}/?pins=q10")
    marked = phone.locator(".word-card td.marked").first
    expect(marked).to_be_attached()
    becomes(
        lambda: box(marked)["x"] > 0 and box(marked)["x"] + box(marked)["width"] < PHONE["width"],
        True,
    )
    visit(phone, f"{address}/?edits=head-off:cross.1.7/head-off:cross.2.7")
    expect(phone.locator(".text-lines s")).to_be_in_viewport(ratio=1)
    words = phone.locator(".text-lines dd").first.locator("> *").all()
    edge = box(phone.locator(".text-lines").first)["x"]
    assert not [
        it for it in map(box, words) if it["x"] < edge - 1 < edge + 1 < it["x"] + it["width"]
    ]


def test_numbers_stand_beside_their_words_and_not_on_the_lines(phone: Page, address: str) -> None:
    visit(phone, f"{address}/?pins=q4&heads=2,3,5")
    labels = phone.locator(f"{LARGE} .labels")
    expect(labels).not_to_have_count(0)
    wires = box(phone.locator(f"{LARGE} .wires"))
    for label in labels.all():
        word, number = box(label.locator("xpath=../*[1]")), box(label)
        assert number["x"] >= word["x"] + word["width"] >= wires["x"] + wires["width"]
        assert number["x"] + number["width"] <= PHONE["width"]


def test_an_experiment_leaves_the_screen_to_the_pictures(phone: Page, address: str) -> None:
    """A line of controls, that scrolls, and one for each output."""
    edits = "head-off:decoder_self.0.1/head-off:cross.2.3/head-off:cross.1.2"
    visit(phone, f"{address}/?tool=heads&edits={edits}")
    strip = phone.locator(".st-key-experiment")
    expect(strip.locator(".text-lines")).to_be_visible()
    becomes(lambda: box(strip)["height"] < PHONE["height"] / 4, True)
    strip.get_by_role("button", name="All off").click()
    becomes(lambda: parameter(phone, "edits"), None)


def test_a_tap_on_a_head_leads_to_its_picture(phone: Page, address: str) -> None:
    visit(phone, address)
    phone.get_by_role("gridcell", name="Encoder L2 H7:").tap()
    becomes(lambda: (parameter(phone, "layer"), parameter(phone, "head")), ("2", "7"))
    large = phone.locator(LARGE)
    expect(large).to_have_attribute("data-heads", "7")
    becomes(lambda: is_in_sight(phone, large.locator(".sentence"), large.locator(".box")), True)


@pytest.mark.parametrize(
    ("picture", "area"),
    [
        ("arrows", ".head-view .stage"),
        thorough(("map", ".head-map .stage")),
        thorough(("inside", ".cell-steps .stages > *")),
    ],
)
def test_a_swipe_across_the_picture_turns_to_the_next_head(
    phone: Page, address: str, picture: str, area: str
) -> None:
    visit(phone, f"{address}/?picture={picture}&layer=1&head=6")
    phone.locator(area).first.wait_for()
    for across, expected in ((-150, "1 7"), (-150, "2 0"), (150, "1 7")):
        drag(phone, phone.locator(area).first, across)
        becomes(lambda: f"{parameter(phone, 'layer')} {parameter(phone, 'head')}", expected)
        layer, head = expected.split()
        expect(phone.locator(".head-grid")).to_have_attribute(
            "data-selected", f"cross,{layer},{head}"
        )


def test_a_finger_still_scrolls_and_pins(phone: Page, address: str) -> None:
    visit(phone, f"{address}/?layer=1&head=6")
    view = phone.locator(LARGE)
    come_to(view.locator(".wires"))
    top = box(view)["y"]
    drag(phone, view.locator(".wires"), 20, -200)
    becomes(lambda: box(view)["y"] < top - 100, True)
    view.locator("[data-token=q3]").tap()
    expect(view).to_have_attribute("data-pins", "q3")
    expect(view).to_have_attribute("data-heads", "6")


def test_a_swipe_steps_through_a_decoding(phone: Page, address: str) -> None:
    visit(phone, f"{address}/decode?step=3")
    player = phone.locator(".decode-player[data-nonce]")
    expect(player).to_have_attribute("data-step", "3")
    player.locator(".panel.candidates").scroll_into_view_if_needed()
    for across, step in ((-150, "4"), (-150, "5"), (150, "4")):
        drag(phone, player.locator(".panel.candidates"), across)
        expect(player).to_have_attribute("data-step", step)
    becomes(lambda: parameter(phone, "step"), "4")


PAIRS = [
    ("layer=1&head=2&layer_b=1&head_b=5", ("2", "6")),
    ("layer=1&head=1&checkpoint_b=en-de-small&same_head=yes", ("2", "2")),
]


@pytest.mark.parametrize(("query", "expected"), cases(PAIRS, {"each its own": PAIRS[0]}))
def test_a_swipe_across_b_turns_a_with_it_where_they_are_locked(
    phone: Page, address: str, query: str, expected: tuple[str, str]
) -> None:
    visit(phone, f"{address}/compare?{query}")
    views = phone.locator(LARGE)
    expect(views).to_have_count(2)
    views.last.locator(".stage").scroll_into_view_if_needed()
    drag(phone, views.last.locator(".stage"), -150)
    becomes(lambda: (parameter(phone, "head"), parameter(phone, "head_b")), expected)


MORE = ",+and+my+aunt+went+to+the+city+to+buy+him+some+tea"


@pytest.mark.parametrize("more", cases(["", MORE], {"more lines than are shown": MORE}))
def test_what_is_chosen_at_the_end_of_a_row_is_whole(phone: Page, address: str, more: str) -> None:
    """Also below more lines of words than are shown at once."""
    text = f"The+doctor+told+my+uncle+to+drink+less+coffee+because+he+could+not+sleep{more}."
    visit(phone, f"{address}/?text={text}")
    rows = phone.locator(".token-rows .tokens")
    marks = phone.locator(".token-rows").get_by_role("button", name="marks")
    expect(marks).to_have_attribute("aria-expanded", "false")
    expect(rows.get_by_role("button", name="uncertainty")).to_be_hidden()
    marks.tap()
    for name in ("uncertainty", "lines"):
        button = rows.get_by_role("button", name=name)
        expect(button).to_be_visible()
        # The marks of the words may come meanwhile, and with them new elements: asked at once.
        becomes(partial(button.evaluate, IS_WHOLE), True)
    marks.tap()


def test_a_chart_s_buttons_leave_its_title_alone(phone: Page, address: str) -> None:
    visit(phone, f"{address}/positions?checkpoint=en-de&view=encoding_lines")
    buttons, chart = phone.locator(".modebar").first, phone.get_by_test_id("stPlotlyChart").first
    expect(buttons).to_be_visible()
    title = chart.locator("text", has_text="over the positions").first
    bar, text = box(buttons), box(title)
    assert bar["y"] + bar["height"] <= text["y"]
    buttons.get_by_role("button", name="Zoom out").tap()  # nothing lies over it, or cuts it off
    around = box(phone.get_by_test_id("stElementContainer").filter(has=buttons).first)
    assert around["y"] <= bar["y"]
    assert around["y"] + around["height"] >= box(chart)["y"] + box(chart)["height"]


CUT = ".data, [data-testid=stDataFrame]"
FADES = """all => all.map((node) => {
  const inner = node.querySelector(".dvn-scroller") ?? node;
  if (inner.scrollWidth <= inner.clientWidth + 1) return "whole";
  return getComputedStyle(node).maskImage.includes("gradient") ? "fades" : "cut";
})"""
SCROLL = """all => all.forEach((node) => {
  (node.querySelector(".dvn-scroller") ?? node).scrollLeft = 1e6;
})"""


@pytest.mark.parametrize(
    "path",
    cases(
        ["why_attention", "inspect", "heads", "sweep?checkpoint=copy&sweep_asked=yes"],
        {"our own": "why_attention", "one of Streamlit's": "inspect"},
    ),
)
def test_a_table_that_is_cut_fades_until_it_is_scrolled_to_its_end(
    phone: Page, address: str, path: str
) -> None:
    visit(phone, f"{address}/{path}")
    tables = phone.locator(CUT)
    becomes(lambda: "fades" in tables.evaluate_all(FADES), True)
    assert "cut" not in tables.evaluate_all(FADES)
    tables.evaluate_all(SCROLL)
    becomes(lambda: "fades" in tables.evaluate_all(FADES), False)


@pytest.mark.parametrize("width", [390, 360])
def test_the_name_of_the_page_stands_beside_the_tour(phone: Page, address: str, width: int) -> None:
    phone.set_viewport_size({"width": width, "height": 844})
    visit(phone, address)
    if phone.locator(".tour .close").is_visible():
        phone.locator(".tour .close").tap()
    tour = phone.locator(".tour button:visible, .tour a:visible").first
    name = phone.get_by_test_id("stExpandSidebarButton")
    becomes(lambda: box(name)["x"] + box(name)["width"] <= box(tour)["x"], True)
    assert box(tour)["y"] < 40
    phone.set_viewport_size(PHONE)


LIES_ON = """(button) => {
  const own = button.getBoundingClientRect(), texts = [];
  const picture = button.closest('.figure-tools').previousElementSibling;
  const walker = document.createTreeWalker(picture, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(node);
    if (node.parentElement.checkVisibility()) texts.push([node.data, ...range.getClientRects()]);
  }
  const lies = (each) => each.right > own.left && each.left < own.right
    && each.bottom > own.top + 1 && each.top < own.bottom - 1;
  return texts.filter(([, ...boxes]) => boxes.some(lies)).map(([text]) => text);
}"""


@pytest.mark.parametrize(
    ("path", "pictures"), [("", [LARGE, ".head-grid"]), ("decode", [".search-tree"])]
)
def test_the_button_of_a_picture_stands_in_its_last_line(
    phone: Page, address: str, path: str, pictures: list[str]
) -> None:
    """It has no line of its own, and lies on no text."""
    visit(phone, f"{address}/{path}")
    for drawn in map(phone.locator, pictures):
        button = drawn.locator("+ .figure-tools .open")
        expect(button).to_be_visible()
        becomes(lambda button=button, drawn=drawn: round(bottom(button) - bottom(drawn)), 0)
        becomes(lambda button=button: button.evaluate(LIES_ON), [])


def bottom(found: Locator) -> float:
    return box(found)["y"] + box(found)["height"]


def test_lines_of_buttons_are_few_and_end_together(phone: Page, address: str) -> None:
    visit(phone, f"{address}/positions")
    buttons = phone.locator('.st-key-page [role="radiogroup"]').first.get_by_role("radio")
    expect(buttons).to_have_count(8)

    def lines() -> tuple[int, bool]:
        ends: dict[float, float] = {}
        for at in map(box, buttons.all()):
            ends[at["y"]] = max(ends.get(at["y"], 0), at["x"] + at["width"])
        return len(ends), max(ends.values()) - min(ends.values()) < 3

    becomes(lines, (3, True))


ON_TOP = """(node) => {
    const { left, right, top, bottom } = node.getBoundingClientRect();
    const under = node.getRootNode().elementFromPoint((left + right) / 2, (top + bottom) / 2);
    return node.contains(under);
}"""


def test_what_an_edit_changed_is_seen_though_a_card_is_open(phone: Page, address: str) -> None:
    two_off = "head-off:cross.1.7/head-off:cross.2.7"
    visit(phone, f"{address}/?special=hidden&pins=q1&edits={two_off}")
    seen = [phone.locator(".text-lines s"), phone.get_by_role("button", name="Undo")]
    seen.append(phone.locator(".word-card .title"))
    becomes(lambda: [each.evaluate(ON_TOP) for each in seen], [True] * 3)
