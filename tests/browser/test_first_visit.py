"""A first visit: few controls and plain words, until somebody opens the rest."""

import re
from itertools import product

import pytest
from playwright.sync_api import Page, expect

from tests.browser.controls import controls
from tests.browser.server import DESKTOP, FIRST_VISIT, PHONE, at_rest, becomes
from tests.representatives import cases, thorough

MOST = 14
JARGON = ("nats", "entropy", "sharpness", "alignment", "query", "key")
SEEN = """() => {
    const texts = [];
    const walk = (root) => {
        for (const node of root.querySelectorAll("*")) {
            if (node.shadowRoot) walk(node.shadowRoot);
            const own = [...node.childNodes].filter((each) => each.nodeType === Node.TEXT_NODE);
            const isSeen = node.checkVisibility({ visibilityProperty: true });
            const box = node.getBoundingClientRect();
            const isText = !node.matches("style, script, option, .hidden-text") && box.width > 1;
            if (isSeen && isText) texts.push(...own.map((each) => each.textContent));
        }
    };
    walk(document.body);
    return texts.join(" ");
}"""


def first_visit(page: Page, address: str, path: str = "") -> None:
    """Open the page as somebody who was never here."""
    page.add_init_script(FIRST_VISIT)
    page.goto(f"{address}/{path}")
    page.wait_for_selector(".head-view[data-nonce], .head-map[data-nonce]")
    at_rest(page)


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_few_controls_and_plain_words(page: Page, address: str, size: dict[str, int]) -> None:
    page.set_viewport_size(size)  # type: ignore[arg-type]
    first_visit(page, address)
    page.wait_for_selector(".token-rows .chip.parted")  # what comes by itself, too
    found, _ = controls(page)
    assert len(found) <= MOST, found
    words = re.findall(r"[a-z]+", page.evaluate(SEEN).lower())
    assert not set(JARGON) & set(words)
    sections = page.locator(".head-grid .section")
    assert sections.count() == 3
    becomes(lambda: [each.is_visible() for each in sections.all()], [False, False, True])


def test_more_opens_the_rest_and_is_remembered(page: Page, address: str) -> None:
    first_visit(page, address)
    expect(page.locator(".change-offer button")).to_be_visible()  # what comes by itself, too
    few = len(controls(page)[0])
    page.get_by_role("button", name="More").click()
    expect(page.get_by_role("combobox", name="Decoding")).to_be_visible()
    expect(page.locator(".head-grid .toolbar")).to_be_visible()
    becomes(lambda: [each.is_visible() for each in page.locator(".section").all()], [True] * 3)
    assert len(controls(page)[0]) > 2 * few
    page.reload()
    page.wait_for_selector(".head-view[data-nonce]")
    at_rest(page)
    expect(page.get_by_role("combobox", name="Decoding")).to_be_visible()
    page.get_by_role("button", name="Less").click()
    expect(page.get_by_role("combobox", name="Decoding")).to_be_hidden()
    becomes(lambda: len(controls(page)[0]), few)


def test_an_outcome_speaks_of_no_measure(page: Page, address: str) -> None:
    first_visit(page, address)
    page.locator(".change-offer button").click()
    expect(page.locator(".text-lines s")).to_be_visible()
    numbers = page.locator(".st-key-experiment .text-lines :is(.foot, dd small)")
    becomes(lambda: [it.is_visible() for it in numbers.all()], [False] * numbers.count())
    page.get_by_role("button", name="More").click()
    expect(numbers.first).to_be_visible()


def test_the_kind_of_the_head_that_is_open_is_the_one_in_sight(page: Page, address: str) -> None:
    first_visit(page, address, "?kind=encoder_self&layer=0&head=0")
    sections = page.locator(".head-grid .section")
    becomes(lambda: [each.is_visible() for each in sections.all()], [True, False, False])
    painted = "(canvas) => canvas.width * canvas.height"
    becomes(lambda: sections.nth(0).locator("canvas").evaluate(painted) > 0, True)


@pytest.mark.parametrize(
    "choice", ["picture=map", *map(thorough, ["lens=rollout", "sort=entropy", "tool=heads"])]
)
def test_a_link_to_anything_else_has_its_controls(page: Page, address: str, choice: str) -> None:
    first_visit(page, address, f"?{choice}")
    expect(page.get_by_role("combobox", name="Decoding")).to_be_visible()
    expect(page.locator(".more-button")).to_be_hidden()


WINDOWS = {"1280": (1280, 720), "1440": (1440, 900), "1920": (1920, 1080), "phone": (390, 844)}


@pytest.mark.parametrize(
    ("name", "is_first"),
    cases(
        product(WINDOWS, [True, False]),
        {"a screen": ("1440", True), "the narrowest": ("phone", True), "again": ("1280", False)},
    ),
)
def test_the_verdict_of_a_pinned_word_is_in_the_first_window(
    page: Page, address: str, name: str, is_first: bool
) -> None:
    width, height = WINDOWS[name]
    page.set_viewport_size({"width": width, "height": height})
    if is_first:
        first_visit(page, address)
    else:
        page.goto(address)
    page.wait_for_selector(".head-view[data-nonce]")
    page.locator(".tokens.target .chip", has_text="nicht").click()
    page.wait_for_selector(".drawer-tools")
    at_rest(page)
    verdict = page.locator(".word-card .plain" if is_first else ".word-card .title")
    box = verdict.bounding_box()
    assert box is not None
    assert box["y"] > 0 and box["y"] + box["height"] <= height
    page.mouse.move(0, 0)  # until then a press goes to what was clicked
    # And nothing lies over it: what is at its beginning and its end is the sentence itself.
    on_top = """(node) => [0.02, 0.5].every((share) => {
        const box = node.getBoundingClientRect();
        const at = [box.left + share * box.width, box.top + 8];
        let top = document.elementFromPoint(...at);
        while (top?.shadowRoot) top = top.shadowRoot.elementFromPoint(...at);
        return node.contains(top);
    })"""
    assert verdict.evaluate(on_top)


def test_the_drawer_is_made_larger_and_closed(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_selector(".head-view[data-nonce]")
    page.locator(".tokens.target .chip", has_text="nicht").click()
    page.wait_for_selector(".drawer-tools")
    drawer = page.locator('[data-testid="stLayoutWrapper"]:has(> .st-key-drawer)')
    ground = "() => getComputedStyle(document.querySelector('.drawer-tools')).backgroundColor"
    assert page.evaluate(ground) == "rgba(0, 0, 0, 0)"  # beside the title
    drawer.evaluate("node => { node.scrollTop = 60; }")
    becomes(lambda: page.evaluate(ground), "rgb(255, 255, 255)")  # over what is scrolled below it
    height = "(node) => node.getBoundingClientRect().height"
    before = drawer.evaluate(height)
    page.get_by_role("button", name="Larger").press("Enter")
    becomes(lambda: drawer.evaluate(height) > 1.5 * before, True)
    page.get_by_role("link", name="Close the card").press("Enter")
    expect(page.locator(".drawer-tools")).to_have_count(0)
    expect(page.locator(".word-card .title")).to_have_count(0)
    assert "pins=" not in page.url


def test_the_first_card_is_in_plain_words(page: Page, address: str) -> None:
    """What the picture hides is said as hidden."""
    first_visit(page, address)
    page.locator('.chip[data-side="target"]').filter(has_text="nicht").click()
    plain = page.locator(".word-card .plain")
    expect(plain).to_be_visible()
    expect(plain).not_to_contain_text("</s>")
    expect(page.locator(".word-card .title")).to_be_hidden()
    assert "nats" not in re.findall(r"[a-z]+", page.evaluate(SEEN).lower())
