"""Whoever clicks as soon as something is there has clicked: the address and the page have it."""

import json
from dataclasses import dataclass

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.server import becomes, painted
from tests.browser.test_app import listens, open_app, parameter
from tests.browser.test_compare import BY_GREEDY
from tests.representatives import cases

pytestmark = pytest.mark.browser

AT_ONCE = """
window.clickAtOnce = (places) => {
    const rootsIn = root => [...root.querySelectorAll("*")].flatMap(each => each.shadowRoot ?? []);
    const seenIn = (root, selector) => [
        ...root.querySelectorAll(selector),
        ...rootsIn(root).flatMap(each => seenIn(each, selector)),
    ];
    const left = new Set(places), isUsable = each => each.checkVisibility() && !each.disabled;
    const look = () => {
        for (const place of left) {
            const found = seenIn(document, place[0]).filter(isUsable)[place[1]];
            if (found && left.delete(place)) found.click();
        }
        if (left.size) requestAnimationFrame(look);
    };
    look();
};
clickAtOnce(JSON.parse(window.name || "[]"));
"""
"""In the first frame in which each is drawn: a selector, and which of those that it finds.
window.name outlives a load.
"""
LINK = """([href, places]) => {
    const link = Object.assign(document.createElement("a"), { href });
    link.dataset.state = "";
    document.body.append(link);
    link.click();
    link.remove();
    clickAtOnce(places);
}"""
ELSEWHERE = "stories"
"""A page that has none of what is clicked."""


@dataclass(frozen=True)
class Early:
    """Something to click, and what the address says and the page shows then."""

    path: str
    places: tuple[tuple[str, int], ...]
    parts: dict[str, str]
    shows: str


TOKEN = ".head-view [data-token=q1]"
EARLY = {
    "a head": Early(
        "",
        ((".head-grid .cell", 6),),
        {"kind": "encoder_self", "layer": "0", "head": "6"},
        '.head-grid[data-selected="encoder_self,0,6"]',
    ),
    "a token": Early("", ((TOKEN, 0),), {"pins": "q1"}, '.head-view[data-pins="q1"]'),
    "a word of the sentence": Early(
        "",
        (('.token-rows .chip[data-side="source"]', 1),),
        {"pins": "k1"},
        '.head-view[data-pins="k1"]',
    ),
    "a field of Streamlit": Early(
        "", ((".st-key-picture button", 1),), {"picture": "map"}, ".head-map[data-nonce]"
    ),
    "a head, a token and a field": Early(
        "",
        ((".head-view .swatch", 1), (".st-key-experiment-on button", 0), (TOKEN, 0)),
        {"heads": "1,2", "pins": "q1", "tool": "heads"},
        '.head-view[data-pins="q1"][data-heads="1,2"]',
    ),
    "a head to switch off": Early(
        "?tool=heads",
        ((".head-grid .cell", 6),),
        {"edits": "head-off:encoder_self.0.6"},
        '.head-grid .cell[data-edited="off"]',
    ),
    "a step": Early(
        "decode", ((".decode-player .next", 0),), {"step": "1"}, '.decode-player[data-step="1"]'
    ),
    "a snapshot": Early(
        "training?checkpoint=copy&topic=heads&snapshot=5",
        ((".snapshot-player .next", 0),),
        {"snapshot": "20"},
        '.snapshot-player[data-step="20"]',
    ),
    "a token of B alone": Early(
        f"compare?{BY_GREEDY.replace('method_b=greedy', 'decoding=greedy&method_b=beam')}",
        ((".head-view [data-token=q4]", 1),),
        {"pins_b": "q4"},
        '.head-view[data-pins="q4"]',
    ),
}
FEW = {
    "several, and a field of Streamlit": "a head, a token and a field",
    "an edit": "a head to switch off",
}
"""What tells the address of a click, and how -> the one that `make test` clicks."""


@pytest.mark.parametrize("name", cases(EARLY, FEW))
def test_a_click_at_first_sight_is_kept(page: Page, address: str, name: str) -> None:
    """After a load, after a load of the same address anew, and after a link."""
    early, to = EARLY[name], f"{address}/{EARLY[name].path}"
    page.add_init_script(AT_ONCE)
    open_app(page, f"{address}/{ELSEWHERE}")
    page.evaluate("places => { window.name = places }", json.dumps(early.places))
    page.goto(to)
    assert_taken(page, early)
    page.evaluate("to => history.replaceState({}, '', to)", to)
    page.reload()
    assert_taken(page, early)
    page.evaluate("window.name = ''")
    open_app(page, f"{address}/{ELSEWHERE}")
    listens(page)
    n = page.evaluate("history.length")
    page.evaluate(LINK, [to, early.places])
    assert_taken(page, early)
    assert page.evaluate("history.length") <= n + 1 + len(early.places)  # with Back, to the others


def test_what_is_chosen_before_the_scripts_are_there_is_kept(page: Page, address: str) -> None:
    """Fields are Streamlit's own; what writes the address comes in a file that may take long."""
    held: list[Route] = []
    page.route("**/scripts/first.js*", lambda route: held.append(route), times=1)
    page.goto(f"{address}/?kind=encoder_self")
    n = page.evaluate("history.length")
    for name in ("Heat map", "Arrows", "Heat map"):
        page.get_by_role("radio", name=name).click()
    page.get_by_role("button", name="Experiment").click()
    expect(page.get_by_role("radio", name="Cut arrows")).to_be_visible()  # the server has heard
    assert held and parameter(page, "tool") is None
    held[0].continue_()
    for part, value in {"kind": "encoder_self", "picture": "map", "tool": "heads"}.items():
        becomes(lambda part=part: parameter(page, part), value)
    assert n < page.evaluate("history.length") <= n + 4
    page.go_back()
    becomes(lambda: parameter(page, "tool"), None)
    expect(page.get_by_role("radio", name="Cut arrows")).to_have_count(0)


def assert_taken(page: Page, early: Early) -> None:
    for part, value in early.parts.items():
        becomes(lambda part=part: parameter(page, part), value)
    expect(page.locator(early.shows)).to_have_count(1)
    painted(page)
    for part, value in early.parts.items():  # nothing that comes later takes it back
        assert parameter(page, part) == value
