"""The address in a browser: a choice is an entry, a page is one, and all of it comes back."""

import re
from collections.abc import Iterator
from itertools import product
from urllib.parse import parse_qsl

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.server import DESKTOP, becomes, painted
from tests.browser.slow_line import SlowLine, slow_line
from tests.browser.test_app import go_to, open_app, visit, wait_for_map
from tests.representatives import cases, thorough

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

PRESS_AND_LEAVE = """(player, [button, href]) => {
    player.querySelector(button).click();
    const link = Object.assign(document.createElement("a"), { href });
    link.dataset.state = "";
    document.body.append(link);
    link.click();
    link.remove();
}"""
"""The server hears of a step once it rests, of one that plays not at all, of a link at once."""


def query(page: Page) -> dict[str, str]:
    return dict(parse_qsl(page.evaluate("location.search.slice(1)")))


def test_a_page_that_there_is_not_leads_to_explore_with_one_sentence(
    page: Page, address: str
) -> None:
    open_app(page, f"{address}/sweeps?text=It+rains.&picture=map")
    wait_for_map(page, "cross L2 H2")
    expect(page.get_by_role("alert")).to_have_count(1)
    expect(page.get_by_role("alert")).to_contain_text("sweeps")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page).to_have_url(f"{address}/?text=It%20rains.&picture=map")


def test_a_page_is_one_entry_and_back_leads_over_pages(page: Page, address: str) -> None:
    visit(page, f"{address}/?picture=map")
    wait_for_map(page, "cross L2 H2")
    length = page.evaluate("history.length")
    page.get_by_role("gridcell", name="Cross L0 H6:").click()
    wait_for_map(page, "cross L0 H6")
    chosen = {"layer": "0", "head": "6", "picture": "map", "special": "hidden"}
    becomes(lambda: query(page), chosen)
    go_to(page, "Look", "Decode")
    page.wait_for_url("**/decode?**")
    page.wait_for_selector(".decode-player[data-nonce]")
    becomes(lambda: query(page), chosen)
    assert page.evaluate("history.length") == length + 2
    page.keyboard.press("ArrowRight")
    becomes(lambda: query(page), chosen | {"step": "1"})
    page.go_back()
    expect(page.locator(".decode-player")).to_have_attribute("data-step", "0")
    page.go_back()
    wait_for_map(page, "cross L0 H6")
    page.go_back()
    wait_for_map(page, "cross L2 H2")
    expect(page).to_have_url(f"{address}/?picture=map")
    page.go_forward()
    wait_for_map(page, "cross L0 H6")
    page.go_forward()
    expect(page.locator(".decode-player")).to_have_attribute("data-step", "0")
    page.go_forward()
    expect(page.locator(".decode-player")).to_have_attribute("data-step", "1")
    becomes(lambda: query(page), chosen | {"step": "1"})


@pytest.mark.thorough
@pytest.mark.parametrize("pause", cases([10, 50, 100, 200], {"while a run goes on": 50}))
def test_back_and_forward_faster_than_the_server(
    browser: Browser, address: str, pause: int
) -> None:
    context = browser.new_context(viewport=DESKTOP)
    context.set_default_timeout(60_000)
    page = context.new_page()  # its console may report that Streamlit has mixed up two pages
    open_app(page, f"{address}/?picture=map")
    wait_for_map(page, "cross L2 H2")
    page.get_by_role("gridcell", name="Cross L0 H6:").click()
    wait_for_map(page, "cross L0 H6")
    becomes(lambda: query(page).get("layer"), "0")
    go_to(page, "Look", "Decode")
    page.wait_for_selector(".decode-player[data-nonce]")
    page.keyboard.press("ArrowRight")
    becomes(lambda: query(page).get("step"), "1")
    there = page.evaluate("location.href")
    _go(page, "back", pause)
    wait_for_map(page, "cross L2 H2")
    painted(page)
    expect(page).to_have_url(f"{address}/?picture=map")
    _go(page, "forward", pause)
    expect(page.locator(".decode-player")).to_have_attribute("data-step", "1")
    painted(page)
    expect(page).to_have_url(there)
    context.close()


def _go(page: Page, way: str, pause: int) -> None:
    """Three entries of the history, with a pause of these milliseconds between them."""
    page.evaluate(f"for (let i = 0; i < 3; i++) setTimeout(() => history.{way}(), i * {pause})")


PLAYERS = {
    "step": ("decode?", "5", "2", "3"),
    "snapshot": ("training?checkpoint=copy&topic=heads&", "126", "32", "50"),
}
"""The name of what a player is at -> its page, and steps that are left, reached, and follow."""


@pytest.mark.parametrize(
    ("name", "button"),
    cases(
        product(PLAYERS, [".next", ".play"]),
        {"a step of a decoding": ("step", ".next"), "a training plays": ("snapshot", ".play")},
    ),
)
def test_a_step_just_before_a_link_is_not_of_the_address_that_it_leads_to(
    page: Page, address: str, name: str, button: str
) -> None:
    path, left, reached, following = PLAYERS[name]
    visit(page, f"{address}/{path}{name}={left}")
    player = page.locator(".decode-player[data-nonce], .snapshot-player[data-nonce]")
    expect(player).to_have_attribute("data-step", left)
    player.evaluate(PRESS_AND_LEAVE, [button, f"{address}/{path}{name}={reached}"])
    expect(player).to_have_attribute("data-step", reached)
    expect(player.get_by_role("button", name="Play", exact=True)).to_be_visible()
    becomes(lambda: query(page).get(name), reached)
    player.locator(".next").click()
    becomes(lambda: query(page).get(name), following)


@pytest.mark.thorough
def test_sliders_of_a_tensor_come_back(page: Page, address: str) -> None:
    visit(page, f"{address}/inspect?inspect=tensor&checkpoint=copy")
    first = page.get_by_role("slider", name="Rows").first
    expect(first).to_have_value("0")
    for _ in range(2):
        first.press("ArrowRight")
        painted(page)
    becomes(lambda: query(page).get("tensor_rows", "").partition(",")[0], "2")
    page.reload()
    painted(page)
    expect(first).to_have_value("2")
    page.go_back()
    expect(first).not_to_have_value("2")


RELOADED = [
    ("decode?step=3&mean=yes", '.decode-player[data-step="3"]'),
    ("compare?layer_b=1&head_b=5&picture=map", '.head-map[data-id="cross L1 H5"]'),
    ("?picture=inside&cell=1,1", '.cell-steps [data-number="weight"]'),
    ("training?checkpoint=copy&topic=heads&snapshot=200", '.snapshot-player[data-step="200"]'),
]
FEW = {"two heads": RELOADED[1]}
"""Tests of the other pages load an address or load it anew."""


@pytest.mark.parametrize(("link", "seen"), cases(RELOADED, FEW))
def test_a_reload_shows_the_same(page: Page, address: str, link: str, seen: str) -> None:
    visit(page, f"{address}/{link}")
    page.wait_for_selector(seen)
    page.reload()
    painted(page)
    page.wait_for_selector(seen)
    expect(page).to_have_url(f"{address}/{link}")


def test_what_cannot_be_read_leaves_the_address(page: Page, address: str) -> None:
    open_app(page, f"{address}/?picture=&kind=&layer=x&cat=3&head=6")
    page.wait_for_url(re.compile(r"/\?head=6$"))
    expect(page.locator(".head-grid")).to_have_attribute("data-selected", "cross,2,6")


@pytest.fixture
def line(address: str) -> Iterator[SlowLine]:
    """Asked for before a page: what it closes last would be an error on the page's console."""
    with slow_line(address) as line:
        yield line


@pytest.mark.thorough
def test_on_a_slow_line_no_choice_is_taken_back_and_back_goes_back(
    line: SlowLine, page: Page
) -> None:
    open_app(page, f"{line.address}/?kind=encoder_self")
    length = page.evaluate("history.length")
    line.delay = 1.0
    page.get_by_role("gridcell", name="Encoder L0 H6:").click()
    page.get_by_role("radio", name="Heat map").click()
    page.get_by_role("gridcell", name="Encoder L1 H4:").click()
    wait_for_map(page, "encoder_self L1 H4")
    chosen = {"kind": "encoder_self", "layer": "1", "head": "4", "picture": "map"}
    becomes(lambda: query(page), chosen)
    expect(page.get_by_role("radio", name="Heat map")).to_be_checked()
    for _ in range(page.evaluate("history.length") - length):
        page.go_back()
    becomes(lambda: query(page), {"kind": "encoder_self"})
    expect(page.get_by_role("radio", name="Arrows")).to_be_checked()
    expect(page.locator(".head-grid")).to_have_attribute("data-selected", "encoder_self,2,2")
    painted(page)
    assert query(page) == {"kind": "encoder_self"}


@pytest.mark.parametrize(
    "link", ["", *map(thorough, ["explore?layer=1", "why_attention", "inspect?checkpoint=copy"])]
)
def test_nothing_that_a_page_asks_for_is_missing(browser: Browser, address: str, link: str) -> None:
    """In a browser that has kept nothing: Streamlit looks for the server below the page first."""
    context = browser.new_context(viewport=DESKTOP)
    context.set_default_timeout(60_000)
    page, answers = context.new_page(), dict[str, int]()
    page.on("response", lambda answer: answers.update({answer.url: answer.status}))
    open_app(page, f"{address}/{link}")
    context.close()
    assert f"{address}/_stcore/host-config" in answers  # where the server is
    assert {url: status for url, status in answers.items() if status >= 400} == {}
