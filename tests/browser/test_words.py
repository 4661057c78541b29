"""Words are explained where they stand: a hover, a key or a tap opens a card."""

import re
from collections.abc import Iterator
from itertools import product

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.server import DESKTOP, PHONE, becomes, painted
from tests.browser.test_accessibility import faults
from tests.browser.test_app import open_app, visit
from tests.browser.test_explore import open_picture
from tests.representatives import cases, thorough
from transformer import Recording
from viz.glossary import words
from viz.notebook.pictures import head_map

pytestmark = [pytest.mark.browser, pytest.mark.same_page]
CARD = ".card:popover-open"
PICTURES = {
    "?": "head-view",
    "?picture=map": "head-map",
    "?picture=inside": "cell-steps",
    "decode": "decode-player",
    "?lens=rollout": "head-view",
    "?show=confidence&sort=entropy": "head-grid",
}
PLACES = """card => {
  const term = card.getRootNode().querySelector('[aria-describedby="card"]').getClientRects()[0];
  const { left, right, top, bottom } = card.getBoundingClientRect();
  return {
    isInside: left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight,
    isBeside: bottom <= term.top || top >= term.bottom,
    least: Math.min(...[...card.querySelectorAll('*')].filter(each => !each.closest('math'))
      .map(each => parseFloat(getComputedStyle(each).fontSize))),
  };
}"""


def word(page: Page, picture: str, name: str) -> Locator:
    return page.locator(f'.{picture} .term[data-word="{name}"]:visible').first


def says(page: Page, name: str) -> None:
    """The one card that is open is that of this word."""
    card = page.locator(CARD)
    expect(card).to_have_attribute("data-word", name)
    expect(card.locator("p")).to_have_text(words()[name].sentence)
    expect(card.locator("math")).to_have_count(1 if words()[name].formula else 0)


def numbers(page: Page) -> list[str]:
    """Of the card's picture."""
    return page.locator(f"{CARD} .card-number").all_inner_texts()


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    """A page of a narrow screen that is touched."""
    context = browser.new_context(viewport=PHONE, has_touch=True)
    yield context.new_page()
    context.close()


def test_a_word_that_is_pointed_at_opens_its_card_and_leaving_closes_it(
    page: Page, address: str
) -> None:
    open_picture(page, address, "", "head-view")
    head = word(page, "head-view", "head")
    head.hover()
    says(page, "head")
    expect(head).to_have_attribute("aria-describedby", "card")
    word(page, "head-view", "layer").hover()
    says(page, "layer")
    page.locator(CARD).hover()
    page.mouse.wheel(0, 1)
    says(page, "layer")
    page.mouse.move(2, 2)
    expect(page.locator(CARD)).to_have_count(0)
    expect(page.locator("[aria-describedby=card]")).to_have_count(0)


def test_keys_open_walk_and_close(page: Page, address: str) -> None:
    open_picture(page, address, "pins=q4", "head-view")
    view = page.locator(".head-view")
    expect(view.locator(".term[tabindex='0']")).to_have_count(1)
    page.get_by_role("button", name="Show as", exact=True).focus()
    page.keyboard.press("Tab")
    says(page, "row")
    page.keyboard.press("ArrowRight")
    says(page, "head")
    expect(word(page, "head-view", "head")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(CARD)).to_have_count(0)
    expect(view).to_have_attribute("data-pins", "q4")  # Escape was for the card
    page.keyboard.press("Enter")
    says(page, "head")
    page.keyboard.press("Enter")
    expect(page.locator(CARD)).to_have_count(0)
    page.keyboard.press("ArrowRight")
    says(page, "layer")
    for _ in range(page.locator(f"{CARD} .term").count() + 1):  # through its own words, and on
        expect(page.locator(CARD)).to_have_count(1)
        page.keyboard.press("Tab")
    expect(page.locator(CARD)).to_have_count(0)


def test_a_tap_opens_a_card_on_a_phone_and_the_next_closes_it(phone: Page, address: str) -> None:
    open_app(phone, address)
    for name in ("key", "row", "head", "layer"):
        word(phone, "head-view", name).tap()
        says(phone, name)
        placed = phone.locator(CARD).evaluate(PLACES)
        assert placed["isInside"] and placed["isBeside"] and placed["least"] >= 14, (name, placed)
    word(phone, "head-view", "layer").tap()
    expect(phone.locator(CARD)).to_have_count(0)
    word(phone, "head-grid", "alignment").tap()
    says(phone, "alignment")
    phone.locator(".head-view .sentence .aside").tap()
    expect(phone.locator(CARD)).to_have_count(0)


SIZES = {"desktop": DESKTOP, "phone": PHONE}
FEW = {
    "words of arrows": ("?", "desktop"),
    "words of a decoding": ("decode", "desktop"),
    "words of the grid": ("?show=confidence&sort=entropy", "desktop"),
    "a narrow card": ("?picture=inside", "phone"),
}
"""Each component has its own words, of one list; all have the same card."""


@pytest.mark.parametrize(("place", "size"), cases(product(PICTURES, SIZES), FEW))
def test_every_underlined_word_has_a_card_that_is_whole_and_covers_no_word(
    page: Page, address: str, place: str, size: str
) -> None:
    page.set_viewport_size(SIZES[size])  # type: ignore[arg-type]
    visit(page, f"{address}/{place}")
    page.locator(f".{PICTURES[place]} .term:visible").first.wait_for()
    painted(page)
    terms = page.locator(f".{PICTURES[place]} .term:visible")
    names = terms.evaluate_all("all => all.map(each => each.dataset.word)")
    assert len(names) >= 3
    for at, name in enumerate(names):
        terms.nth(at).press("Enter")
        says(page, name)
        placed = page.locator(CARD).evaluate(PLACES)
        assert placed["isInside"] and placed["isBeside"] and placed["least"] >= 14, (name, placed)
    assert faults(page) == []
    page.keyboard.press("Escape")
    expect(page.locator(CARD)).to_have_count(0)


@pytest.mark.parametrize(
    "place", ["?pins=q4", *map(thorough, ["?picture=map&pins=q4", "decode?step=4"])]
)
def test_the_row_of_a_card_is_the_one_of_the_sentence(page: Page, address: str, place: str) -> None:
    picture = PICTURES[re.sub(r".?(pins=q4|step=4)", "", place) or "?"]
    visit(page, f"{address}/{place}")
    row = word(page, picture, "row")
    row.hover()
    says(page, "row")
    said = page.locator(".sentence:visible .said").inner_text()
    (value,) = re.findall(r"\((.*)\)\.$", said)
    query, key = page.locator(".sentence:visible em").all_inner_texts()
    marked = page.locator(f"{CARD} .card-number.marked")
    expect(marked).to_have_text(value)
    expect(page.locator(f"{CARD} .card-piece.marked")).to_have_text(re.compile(f"▁?{key}"))
    expect(page.locator(f"{CARD} .card-title")).to_contain_text(f"{query} in head")
    rest = [it.split(": ")[1] for it in page.locator(f"{CARD} .card-rest").all_inner_texts()]
    total = sum(0 if "below" in text else float(text) for text in [*numbers(page), *rest])
    assert total == pytest.approx(1, abs=0.004)


def test_inside_a_cell_the_card_has_the_weights_of_its_keys(page: Page, address: str) -> None:
    open_picture(page, address, "picture=inside", "cell-steps")
    word(page, "cell-steps", "softmax").hover()
    says(page, "softmax")
    weight = page.locator('.equation [data-number="weight"]').inner_text()
    expect(page.locator(f"{CARD} .card-number.marked")).to_have_text(weight)


def test_a_metric_shows_the_heads_with_least_and_most_of_it(page: Page, address: str) -> None:
    visit(page, f"{address}/?kind=cross&layer=2&head=3&show=confidence")
    cells = page.locator('.head-grid .cell[aria-label^="Cross "] .value')
    expect(cells).to_have_count(24)
    shares = [int(text.removesuffix(" %")) for text in cells.all_inner_texts()]
    word(page, "head-grid", "confidence").hover()
    says(page, "confidence")
    own = page.get_by_role("gridcell", name="Cross L2 H3:").inner_text()
    assert numbers(page) == [f"{min(shares)} %", own, f"{max(shares)} %"]
    expect(page.locator(f"{CARD} .card-map.marked")).to_contain_text("this head, L2 H3")


def test_a_card_follows_what_is_said_while_it_is_open(page: Page, address: str) -> None:
    visit(page, f"{address}/decode")
    player = page.locator(".decode-player[data-nonce]")
    entropy = word(page, "decode-player", "step_entropy")
    entropy.hover()
    says(page, "step_entropy")
    for step in (0, 1, 2):
        expect(player).to_have_attribute("data-step", str(step))
        bits = page.locator(".decode-player .fact").inner_text().split()[1]
        title = page.locator(f"{CARD} .card-title")
        expect(title).to_have_text(f"Step {step + 1}: −p log₂ p, together {bits} bits")
        rest = page.locator(f"{CARD} .card-rest").inner_text().split(": ")[1]
        assert sum(map(float, [*numbers(page), rest])) == pytest.approx(float(bits), abs=0.03)
        page.keyboard.press("ArrowRight")
    says(page, "step_entropy")


def test_the_sentence_keeps_the_focus_of_a_word_while_it_changes(page: Page, address: str) -> None:
    visit(page, f"{address}/decode")
    layer = word(page, "decode-player", "layer")
    layer.press("Enter")
    page.locator(".decode-player .controls button").nth(3).dispatch_event("click")
    expect(page.locator(".decode-player")).to_have_attribute("data-step", "1")
    expect(layer).to_be_focused()
    says(page, "layer")


def test_labels_of_streamlit_say_the_same(page: Page, address: str) -> None:
    visit(page, address)
    page.get_by_role("button", name="Options", exact=True).click()
    expect(page.get_by_role("dialog")).to_contain_text(words()["beam"].sentence)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Show as").click()
    expect(page.get_by_role("dialog")).to_contain_text(words()["weight"].source)
    expect(page.get_by_role("dialog").locator(".katex").first).to_be_visible()
    page.get_by_role("dialog").get_by_test_id("stTooltipIcon").first.hover()
    expect(page.get_by_test_id("stTooltipContent")).to_have_text(words()["measure"].sentence)


def test_a_picture_in_a_page_of_its_own_has_cards_too(page: Page, recording: Recording) -> None:
    page.goto("about:blank")  # which is of its own
    page.set_content(head_map(recording, "cross", 2, 3).html)
    word(page, "head-map", "head").hover()
    says(page, "head")
    becomes(lambda: page.locator(f"{CARD} canvas").count(), 1)


def test_numbers_of_a_head_are_whole_or_left_out(page: Page, address: str) -> None:
    visit(page, f"{address}/?kind=encoder_self")
    line = page.locator(".head-grid .named")
    expect(line).to_contain_text("Encoder L2 H2")
    for width in (1440, 1100, 390):
        page.set_viewport_size({"width": width, "height": 900})
        becomes(lambda: line.evaluate("node => node.scrollHeight <= node.clientHeight + 1"), True)
        assert line.locator(".term:visible").count() >= 1


def test_a_word_in_a_card_has_a_card_by_pointer_and_by_keys(page: Page, address: str) -> None:
    visit(page, address)
    view = page.locator(".head-view[data-nonce]")
    card, head = view.locator(".card"), view.locator('.term[data-word="head"]').first
    head.click()
    expect(card).to_have_attribute("data-word", "head")
    expect(card.locator('.term[data-word="head"]')).to_have_count(0)  # it says what that is
    card.locator('.term[data-word="key"]').click()
    expect(card).to_have_attribute("data-word", "key")
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    head.focus()
    page.keyboard.press("Enter")
    expect(card).to_have_attribute("data-word", "head")
    page.keyboard.press("Tab")
    inside = card.locator(".term:focus").get_attribute("data-word")
    assert inside is not None
    page.keyboard.press("Enter")
    expect(card).to_have_attribute("data-word", inside)
    expect(head).to_be_focused()
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
