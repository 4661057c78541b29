"""What moves shows where it comes from, ends as the picture that is drawn, and may be unwanted."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import CDPSession, Page, expect

from tests.browser.server import becomes, painted
from tests.browser.test_app import open_app, wait_for_map

pytestmark = pytest.mark.browser

CLOCK = """
    const now = performance.now.bind(performance);
    const request = window.requestAnimationFrame.bind(window);
    let [since, at, speed] = [0, 0, 1];
    performance.now = () => at + (now() - since) * speed;
    window.requestAnimationFrame = (draw) => request(() => draw(performance.now()));
    window.speed = (wanted) => {
        [at, since, speed] = [performance.now(), now(), wanted];
    };
"""
"""A clock of the page's that can be stopped and go on."""
STILL, USUAL = "speed(0)", "speed(1)"
DRAWN = "(canvas) => canvas.toDataURL()"
FLYING = "body > canvas"


@pytest.fixture
def stoppable(page: Page) -> Page:
    page.add_init_script(CLOCK)
    return page


@pytest.fixture
def animations(page: Page) -> Iterator[CDPSession]:
    """Of the browser's own; they stand still until they are told otherwise."""
    session = page.context.new_cdp_session(page)
    session.send("Animation.enable")
    session.send("Animation.setPlaybackRate", {"playbackRate": 0})
    yield session
    session.detach()


def choose(page: Page, picture: str) -> None:
    page.get_by_role("radio", name=picture, exact=True).click()


def test_arrows_fold_into_the_map_and_unfold(stoppable: Page, address: str) -> None:
    open_app(stoppable, address)
    for picture, component in [("Heat map", ".head-map"), ("Arrows", ".head-view")]:
        stoppable.evaluate(STILL)
        choose(stoppable, picture)
        fold = stoppable.locator(f"{component} .fold")
        expect(fold).to_have_count(1)
        shown = stoppable.locator(f"{component} :is(.stage, .box)").first
        expect(shown).to_have_css("opacity", "0")
        stoppable.evaluate(USUAL)
        expect(fold).to_have_count(0)
        expect(shown).to_have_css("opacity", "1")
        painted(stoppable)


@pytest.mark.thorough
def test_lines_move_from_head_to_head(stoppable: Page, address: str) -> None:
    open_app(stoppable, address)
    canvas = stoppable.locator(".head-view canvas.base")
    view = stoppable.locator(".head-view")
    before = canvas.evaluate(DRAWN)
    stoppable.evaluate(STILL)
    view.get_by_role("button", name="H1", exact=True).dblclick()
    expect(view).to_have_attribute("data-heads", "1")
    assert canvas.evaluate(DRAWN) == before  # its lines begin where the others were
    stoppable.evaluate(USUAL)
    open_there = stoppable.context.new_page()
    open_there.emulate_media(reduced_motion="reduce")
    open_app(open_there, address)
    still = open_there.locator(".head-view canvas.base")
    assert still.evaluate(DRAWN) == before
    open_there.locator(".head-view").get_by_role("button", name="H1", exact=True).dblclick()
    after = still.evaluate(DRAWN)
    assert after != before
    becomes(lambda: canvas.evaluate(DRAWN), after)


def test_lines_that_move_give_way_to_an_address_of_several_heads(
    stoppable: Page, address: str
) -> None:
    """A head that is on its way to another one is neither of those that are shown next."""
    open_app(stoppable, address)
    view = stoppable.locator(".head-view")
    stoppable.evaluate(STILL)
    view.get_by_role("button", name="H1", exact=True).dblclick()
    expect(view).to_have_attribute("data-heads", "1")
    stoppable.wait_for_url(re.compile("heads=1"))
    stoppable.evaluate("history.pushState({}, '', '?heads=0,1&pins=q1')")
    stoppable.evaluate("dispatchEvent(new PopStateEvent('popstate'))")
    expect(view).to_have_attribute("data-heads", "0,1")
    expect(view).to_have_attribute("data-pins", "q1")


@pytest.mark.thorough
def test_a_map_grows_out_of_its_cell(page: Page, address: str, animations: CDPSession) -> None:
    open_app(page, f"{address}/?picture=map&kind=cross&layer=2&head=2")
    wait_for_map(page, "cross L2 H2")
    painted(page)
    page.get_by_role("gridcell", name="Cross L2 H7").click()
    flying = page.locator(FLYING)
    expect(flying).to_have_count(2)
    old, new = (flying.nth(i).bounding_box() for i in range(2))
    cell = page.get_by_role("gridcell", name="Cross L2 H7").bounding_box()
    assert old is not None and new is not None and cell is not None
    assert new == pytest.approx(cell, abs=1)
    assert old["width"] > 4 * new["width"]
    animations.send("Animation.setPlaybackRate", {"playbackRate": 1})
    expect(flying).to_have_count(0)
    wait_for_map(page, "cross L2 H7")


def test_nothing_moves_where_that_is_not_wanted(stoppable: Page, address: str) -> None:
    stoppable.emulate_media(reduced_motion="reduce")
    open_app(stoppable, address)
    stoppable.evaluate(STILL)
    choose(stoppable, "Heat map")
    painted(stoppable)
    expect(stoppable.locator(".head-map[data-nonce]")).to_have_count(1)
    expect(stoppable.locator(".fold")).to_have_count(0)
    cell = stoppable.locator(".head-grid .cell").nth(5)
    cell.click()
    painted(stoppable)
    expect(stoppable.locator(FLYING)).to_have_count(0)
