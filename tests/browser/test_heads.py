"""Heads: from the map to a head, a sentence, Explore and back; a lasso; a survey made on screen."""

import re
import shutil
from itertools import product
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import ROOT, at_rest, painted
from tests.representatives import cases

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

MAP = "[data-testid=stPlotlyChart]"
HEADS = '[role=region][aria-label="Heads"]'

WIDTHS = "[...document.querySelectorAll('.data')].map((it) => [it.scrollWidth, it.offsetWidth])"


def open_heads(page: Page, address: str, query: str = "checkpoint=en-de") -> None:
    page.goto(f"{address}/heads?{query}")
    page.wait_for_selector(f"{HEADS}, [aria-label^='Rows of'], .st-key-page")
    painted(page)


def rows(page: Page) -> int:
    return page.locator(f"{HEADS} tbody tr").count()


def test_a_mark_opens_its_head_and_a_row_its_sentence_and_back(page: Page, address: str) -> None:
    open_heads(page, address, "checkpoint=en-de&heads_kind=cross")
    page.locator(f"{MAP} .scatterlayer .point").first.wait_for()
    at_rest(page)
    page.locator(f"{MAP} .scatterlayer .point").first.click(force=True)
    page.wait_for_url(re.compile("heads_of=one"))
    opened = page.locator("[aria-label^='Rows of Cross']").first
    opened.wait_for()
    link = opened.locator("td a").first
    sentence = link.inner_text()
    link.click()
    page.wait_for_url(re.compile("pins=q"))
    page.locator(".head-view").first.wait_for()
    painted(page)
    text = page.get_by_label("Sentence").input_value()
    assert re.sub(r"\W", "", text) in re.sub(r"\W", "", sentence)
    page.go_back()
    opened.wait_for()
    page.go_back()
    page.locator(HEADS).wait_for()


def test_a_head_needs_none_of_plotlys_code(page: Page, address: str) -> None:
    """A bar says its number to the pointer and to readers of screens."""
    scripts: list[str] = []
    page.on("request", lambda request: scripts.append(request.url))
    open_heads(page, address, "checkpoint=en-de&heads_of=one&kind=decoder_self&layer=1&head=2")
    says = re.compile(r"^\+0: [\d.]+% of the weight$")
    bar = page.get_by_role("figure").get_by_role("img", name=says)
    bar.hover()
    shown = "bar => getComputedStyle(bar, '::after').content"
    assert says.match(bar.evaluate(shown).strip('"'))
    page.mouse.move(0, 0)
    assert bar.evaluate(shown) == "none"
    assert not [url for url in scripts if "plotly" in url.lower()]


ROWS = '[aria-label^="Rows of Cross L0 H"]:visible'
LINKS = 'nav[aria-label="Heads"] a:visible'
SEEN = """(rows) => {
    const name = () => [...document.querySelectorAll(rows)].filter((each) => each.checkVisibility())
        .map((each) => each.ariaLabel).join();
    window.seen = [name()];
    const look = () => {
        if (name() !== window.seen.at(-1)) window.seen.push(name());
        window.wasAhead ||= document.querySelectorAll("[data-ahead]").length === 2;
        setTimeout(() => requestAnimationFrame(look)); // as the last of a frame: what it paints
    };
    look();
}"""
"""The heads whose rows are on the screen, in each frame, and whether a part came before its run."""


def open_head(page: Page, address: str, *, is_patient: bool = True) -> None:
    """is_patient: a link waits for its part, however long that takes on a busy machine."""
    query = "checkpoint=en-de&heads_of=one&kind=cross&layer=0&head=7"
    open_heads(page, address, query)
    page.locator(ROWS).first.wait_for()
    page.wait_for_function("!`${history.pushState}`.includes('[native code]')")  # links are heard
    if is_patient:
        page.evaluate("AbortSignal.timeout = () => new AbortController().signal")
    page.evaluate(SEEN, '[aria-label^="Rows of Cross L0 H"]')


def named(head: int) -> str:
    return f"Rows of Cross L0 H{head} by decile"


def drawn_by_the_page(page: Page, head: int) -> None:
    """Wait until the page has run, and what a link showed before has gone."""
    page.wait_for_url(re.compile(f"head={head}"))
    painted(page)
    expect(page.locator("[data-ahead]")).to_have_count(1)
    expect(page.locator(ROWS)).to_have_attribute("aria-label", named(head))


@pytest.mark.parametrize(
    ("of", "width"),
    cases(
        product(["all", "one"], [390, 720, 1440]),
        {"a table that is scrolled": ("all", 390), "one that is not": ("one", 1440)},
    ),
)
def test_a_head_of_a_column_that_opens_widens_no_table(
    page: Page, address: str, of: str, width: int
) -> None:
    """Its sentence is in sight, however far the table is scrolled."""
    page.set_viewport_size({"width": width, "height": 844})
    open_heads(page, address, f"checkpoint=en-de&heads_of={of}&kind=decoder_self&layer=1&head=2")
    heads = page.locator(".data thead summary")
    heads.first.wait_for()
    before = page.evaluate(WIDTHS)
    for head in heads.all():
        head.press("Enter")
        opened = page.locator(".data .meanings p:visible")
        expect(opened).to_have_count(1)
        assert page.evaluate(WIDTHS) == before
        box, table = opened.bounding_box(), page.locator(".data:has([open])").bounding_box()
        assert box is not None and table is not None
        assert table["x"] <= box["x"]
        assert box["x"] + box["width"] <= table["x"] + table["width"]
        head.press("Enter")


def test_a_link_shows_its_head_before_the_page_has_run(page: Page, address: str) -> None:
    open_head(page, address)
    link = page.locator(LINKS).nth(3)
    link.focus()
    page.keyboard.press("Enter")
    drawn_by_the_page(page, 3)
    assert page.evaluate("window.seen") == [named(7), named(3)]
    assert page.evaluate("window.wasAhead")
    expect(page.locator(LINKS).nth(3)).to_be_focused()
    expect(page.locator(LINKS).nth(3)).to_have_attribute("aria-current", "true")
    page.go_back()
    drawn_by_the_page(page, 7)


SLOW = """(ms) => {
    const { send } = WebSocket.prototype;
    WebSocket.prototype.send = function (...it) { setTimeout(() => send.apply(this, it), ms); };
    new MutationObserver(() => {
        if (document.querySelectorAll("[data-ahead]").length !== 1) return;
        for (const begun = performance.now(); performance.now() - begun < ms;);
    }).observe(document.body, { childList: true, subtree: true });
}"""
"""What is asked for begins late, and a frame in which a run has drawn the part takes long."""


def test_a_run_that_comes_late_takes_neither_the_part_nor_the_focus_away(
    page: Page, address: str
) -> None:
    open_head(page, address)
    link = page.locator(LINKS).nth(3)
    link.focus()
    page.evaluate(SLOW, 900)
    page.keyboard.press("Enter")
    drawn_by_the_page(page, 3)
    expect(page.locator(LINKS).nth(3)).to_be_focused()
    assert page.evaluate("window.seen") == [named(7), named(3)]


@pytest.mark.thorough
def test_of_links_in_a_hurry_the_last_one_stays(page: Page, address: str) -> None:
    open_head(page, address)
    for head in (3, 4, 5, 2):
        page.locator(LINKS).nth(head).click()
    drawn_by_the_page(page, 2)
    seen = page.evaluate("window.seen")
    assert seen[0] == named(7) and seen[-1] == named(2)
    assert len(seen) == len(set(seen)), "one came back after another was shown"


def test_without_an_answer_a_link_leads_on(page: Page, address: str) -> None:
    open_head(page, address, is_patient=False)
    page.route("**/preview/**", lambda route: route.fulfill(status=204))
    page.locator(LINKS).nth(3).click()
    drawn_by_the_page(page, 3)
    page.route("**/preview/**", lambda route: None)  # it never answers
    page.locator(LINKS).nth(4).click()
    drawn_by_the_page(page, 4)


def test_a_lasso_leaves_the_heads_that_it_is_around(page: Page, address: str) -> None:
    open_heads(page, address, "checkpoint=en-de&heads_kind=cross")
    area = page.locator(f"{MAP} .nsewdrag").first
    area.wait_for()
    at_rest(page)
    n = rows(page)
    page.locator(f"{MAP} .modebar-btn[data-val=lasso]").first.click()
    box = area.bounding_box()
    assert box is not None
    left, top = box["x"] + 2, box["y"] + 2
    right, bottom = left + 0.5 * box["width"], top + box["height"] - 6
    page.mouse.move(left, top)
    page.mouse.down()
    for x, y in ((right, top), (right, bottom), (left, bottom), (left, top)):
        page.mouse.move(x, y, steps=6)
    page.mouse.up()
    page.wait_for_url(re.compile("heads_among=cross"))
    expect(page.locator(f"{HEADS} tbody tr")).not_to_have_count(n)
    assert 0 < rows(page) < n
    page.get_by_role("button", name="chosen on the maps").click()
    expect(page.locator(f"{HEADS} tbody tr")).to_have_count(n)


def test_the_table_is_searched_and_sorted(page: Page, address: str) -> None:
    open_heads(page, address, "checkpoint=en-de&heads_order=worth")
    worths = page.locator(f"{HEADS} tbody td.interval").count()
    assert worths == 72
    values = page.locator(f"{HEADS} tbody tr").evaluate_all(
        "rows => rows.map(row => Number(row.querySelectorAll('td[data-value]')[0].dataset.value))"
    )
    assert len(values) == 72
    page.get_by_label("Find").fill("decoder l1")
    page.keyboard.press("Enter")
    expect(page.locator(f"{HEADS} tbody tr")).to_have_count(8)


def test_a_survey_is_made_on_screen_stopped_and_gone_on_with(
    page: Page, address: str, tmp_path: Path
) -> None:
    """Its end is on disk: see tests/viz/pages/test_head_survey.py."""
    folder = tmp_path / "copy"
    shutil.copytree(ROOT / "checkpoints" / "copy", folder, ignore=shutil.ignore_patterns("survey"))
    open_heads(page, address, f"checkpoint={quote(str(folder), safe='')}")
    page.get_by_role("button", name="Survey its heads").click()
    page.locator(HEADS).wait_for()
    page.get_by_role("button", name="Stop").click()
    stopped = page.get_by_text(re.compile(r"Stopped: \d+ of 320 are done"))
    stopped.wait_for()
    n_done = int(re.findall(r"\d+", stopped.inner_text())[0])
    assert n_done < 320
    expect(page.locator(f"{HEADS} tbody tr")).to_have_count(24)
    assert not (folder / "survey" / "survey.json").exists()
    page.get_by_role("button", name="Go on").click()
    page.wait_for_function(
        "n => Number(document.body.innerText.match(/(\\d+) of 320 are done/)?.[1]) > n", arg=n_done
    )
    page.get_by_role("button", name="Stop").click()


def test_drawn_cells_are_answered_by_heads_that_open_on_explore(page: Page, address: str) -> None:
    """By a drag and by keys; Back has the same cells, and what is cleared is no longer asked."""
    page.goto(f"{address}/heads?checkpoint=copy&heads_of=ask&text=3+7+2+9&kind=cross")
    cells = page.locator(".cell-drawing .cell")
    drawn = page.locator(".cell-drawing .cell[aria-selected=true]")
    cells.first.wait_for()
    n_columns = page.locator(".cell-drawing th[scope=col]").count()
    assert cells.count() > n_columns > 3
    cells.nth(0).hover()
    page.mouse.down()
    cells.nth(n_columns + 1).hover()
    page.mouse.up()
    head = page.locator('[aria-label="Answers"] th a').first
    head.wait_for()
    page.wait_for_url(re.compile("heads_ask=.*q0k0.*q1k1.*cross"))
    head.click()
    page.wait_for_url(re.compile("kind=cross.*pins=q"))
    page.locator(".head-view").first.wait_for()
    page.go_back()
    expect(drawn).to_have_count(2)
    head.wait_for()  # a run that is under way draws the cells anew, and the focus is lost
    painted(page)
    cells.nth(n_columns + 1).focus()
    for key in ("Space", "ArrowRight", "Space"):
        page.keyboard.press(key)
    page.wait_for_url(re.compile("q0k0.+q1k2"))
    page.get_by_role("button", name="Clear").click()
    expect(drawn).to_have_count(0)
    page.wait_for_url(re.compile(r"heads\?(?!.*heads_ask)"))
    expect(page.locator('[aria-label="Answers"]')).to_have_count(0)
    question = page.get_by_label("Question")
    question.fill("who links 7 to 7 in cross-attention")
    question.press("Enter")  # a typed one is answered in the same place
    head.wait_for()


def test_pinned_words_ask_for_heads_on_explore(page: Page, address: str) -> None:
    """A head of the list opens beside it, with the same words pinned; Back is the head before."""
    page.goto(f"{address}/?checkpoint=copy&text=3+7+2+9&kind=cross&layer=0&head=0&pins=q1,k1")
    page.get_by_role("button", name="Which heads link").click()
    others = page.locator('[aria-label="Answers"] th a:not([href*="layer=0"])')
    others.first.wait_for()
    head = others.first.inner_text()
    layer, number = re.findall(r"\d+", head)
    others.first.click()
    page.wait_for_url(re.compile(f"layer={layer}&head={number}.*pins=q1.*asks=there"))
    page.locator('[aria-label="Answers"]').wait_for()
    page.go_back()
    page.wait_for_url(re.compile("layer=0&head=0.*pins=q1.*asks=there"))
