"""By keyboard: few Tabs to the picture, always a ring, and Decode hears its keys from the start;
and the navigation says where one is.
"""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import PHONE, at_rest, becomes, painted
from tests.browser.test_accessibility import rgb, switch
from tests.browser.test_app import SENTENCE, go_to, open_app
from tests.representatives import cases
from viz.theme import DARK, LIGHT, Theme

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

FOCUSED = """() => {
    let node = document.activeElement;
    while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
    return node;
}"""
DRAWN = ", ".join(
    [f".st-key-{key} [data-nonce]" for key in ("arrows", "map", "inside", "player", "snapshots")]
    + [".stPlotlyChart .main-svg"]
)
"""The pictures to which the first Tab leads."""
NAME = f"() => {{ const node = ({FOCUSED})(); return node.ariaLabel ?? node.innerText; }}"
RING = f"""() => {{
    const node = ({FOCUSED})();
    const around = [];
    for (let each = node; each; each = each.parentElement) around.push(each);
    const framed = around.slice(0, 4).concat([...node.children]); // a field's frame, a token's text
    const found = framed.map((each) => getComputedStyle(each)).find((style) =>
        style.outlineStyle === "solid" && parseFloat(style.outlineWidth) === 2);
    const {{ left, top, right, bottom }} = node.getBoundingClientRect();
    const inSight = right > 0 && left < innerWidth && bottom > 0 && top < innerHeight;
    return [node.outerHTML.slice(0, 120), inSight, found?.outlineColor];
}}"""
PICTURES = {
    "": "Das",
    "?picture=map": "L2 H2, cross-attention",
    "?picture=inside": "Dimension of q and k",
    "decode": "Das",
    "decode?decode_as=steps": "Play",
    "compare": "Das",
    "positions": "Encodings of the first 64",
    "masks": "Mask of decoder self-attention",
    "training": "Step",
    "why_attention": "Operations per layer",
}
"""The address of a page, and how the name of what one comes to in its picture begins."""
FEW = {
    "arrows": "",
    "a heat map": "?picture=map",
    "steps of a decoding": "decode?decode_as=steps",
    "a chart": "masks",
}
"""The focus goes to the first thing of a component's own that takes it, or to a chart."""


@pytest.mark.parametrize("path", cases(PICTURES, FEW))
def test_two_keys_lead_from_the_top_of_a_page_to_its_picture(
    page: Page, address: str, path: str
) -> None:
    open_app(page, f"{address}/{path}")
    page.locator(DRAWN).first.wait_for()  # the link is named when it gets the focus
    painted(page)
    page.keyboard.press("Tab")
    becomes(lambda: page.evaluate(NAME), "Skip to the picture")
    page.keyboard.press("Enter")
    assert str(page.evaluate(NAME)).startswith(PICTURES[path])
    assert page.evaluate(RING)[1:] == [True, rgb(LIGHT.accent)]


def test_without_a_picture_the_first_tab_leads_to_the_content(page: Page, address: str) -> None:
    open_app(page, f"{address}/gallery")
    page.keyboard.press("Tab")
    becomes(lambda: page.evaluate(NAME), "Skip to main content")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("stMain")).to_be_focused()


@pytest.mark.parametrize(
    "theme", cases([LIGHT, DARK], {"a ring of the accent": LIGHT}), ids=lambda theme: theme.name
)
def test_what_has_the_focus_is_in_sight_and_has_a_ring(
    page: Page, address: str, theme: Theme
) -> None:
    open_app(page, address)
    page.wait_for_selector(".head-view[data-nonce]")
    if theme is DARK:
        switch(page, DARK)
    at_rest(page)  # what is drawn anew would lose the focus
    for _ in range(26):
        page.keyboard.press("Tab")
        found, in_sight, colour = page.evaluate(RING)
        assert in_sight, found
        assert colour == rgb(theme.accent), found


def test_a_closed_sidebar_takes_no_focus_and_an_open_one_does(page: Page, address: str) -> None:
    page.set_viewport_size(PHONE)  # on which the navigation is in the sidebar
    open_app(page, address)
    page.wait_for_selector(".head-view[data-nonce]")
    sidebar, link = page.get_by_test_id("stSidebar"), page.get_by_role("link", name="Decode")
    expect(sidebar).to_be_hidden()
    page.get_by_role("button", name="Expand sidebar").press("Enter")
    expect(link).to_be_visible()
    link.focus()
    expect(link).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".decode-player[data-nonce]")).to_be_visible()
    expect(sidebar).to_be_hidden()


def test_decode_hears_keys_wherever_they_mean_nothing_else(page: Page, address: str) -> None:
    open_app(page, f"{address}/decode")
    player = page.locator(".decode-player[data-nonce]")
    expect(player).to_have_attribute("data-step", "0")
    page.keyboard.press("Space")
    expect(player).not_to_have_attribute("data-step", "0")
    page.keyboard.press("Space")
    expect(player.get_by_role("button", name="Play")).to_be_visible()
    page.keyboard.press("Home")
    expect(player).to_have_attribute("data-step", "0")
    page.get_by_role("switch").press("ArrowRight")
    expect(player).to_have_attribute("data-step", "1")
    field = page.get_by_label("Sentence")
    field.press("End")
    field.press("ArrowLeft")
    expect(player).to_have_attribute("data-step", "1")
    page.keyboard.type(" now")  # what rests is entered, and begins with the first step
    expect(field).to_have_value(f"{SENTENCE[:-1]} now.")
    expect(player.get_by_role("button", name="Play")).to_be_visible()


def test_decode_hears_keys_of_who_comes_by_the_navigation(page: Page, address: str) -> None:
    open_app(page, address)
    page.wait_for_selector(".head-view[data-nonce]")
    go_to(page, "Look", "Decode")
    painted(page)
    player = page.locator(".decode-player[data-nonce]")
    expect(player).to_have_attribute("data-step", "0")  # it hears keys from here on
    expect(page.get_by_test_id("stMain")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(player).to_have_attribute("data-step", "1")
    page.keyboard.press("Space")
    expect(player.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.get_by_role("menuitem", name=re.compile("Explore"))).to_have_count(0)


def test_the_navigation_names_the_open_page_at_every_width(page: Page, address: str) -> None:
    open_app(page, f"{address}/decode")
    expect(page.get_by_role("button", name="Look · Decode", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Learn", exact=True)).to_be_visible()
    go_to(page, "Learn", "Gallery")
    expect(page.get_by_role("button", name="Learn · Gallery", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Look", exact=True)).to_be_visible()
    page.set_viewport_size(PHONE)
    opens = page.get_by_test_id("stExpandSidebarButton")
    said = "node => getComputedStyle(node, '::after').content"
    becomes(lambda: opens.evaluate(said), '"Gallery"')
    place = opens.bounding_box()
    assert place is not None and place["x"] + place["width"] <= PHONE["width"]
