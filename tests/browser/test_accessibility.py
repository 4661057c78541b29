"""No page has a fault: not axe-core's serious ones, in light and dark, nor what cannot be read."""

import re
from contextlib import suppress
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.server import ANIMATED, at_rest, becomes, painted
from tests.browser.test_app import visit
from tests.browser.test_space import DRAWN, FAULTS, LEAST, WIDTHS
from tests.representatives import cases
from transformer.discover import discover
from viz.screen import FIRST_PAGE
from viz.theme import DARK, LIGHT, Theme

pytestmark = [pytest.mark.browser, pytest.mark.same_page]

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
ALL: dict[str, Any] = {"type": "tag", "values": TAGS}
COLOURS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
"""All rules, and those that ask for colours: nothing else of a page is another in the dark."""
MENU = ["" if name == FIRST_PAGE else name for name in discover("viz.pages", "PAGE")]
"""The address of every page."""
POSITIONS = [
    f"positions?view={view.name}"
    for view in discover("viz.views", "VIEW").values()
    if view.name in ("encoding_curves", "token_vectors")  # all kinds of controls are in these two
]
FURTHER = [
    *(f"?checkpoint={name}" for name in ("everyday", "sentiment")),
    "decode?checkpoint=sentiment",
    "decode?text=",  # a warning
    "training?topic=rate",
    "training?topic=loss",
    "?story=figures-of-the-paper&scene=2",
    *POSITIONS,
]
LAID_OUT = ["?picture=map", "?picture=inside", "?sort=entropy&show=entropy"]
LAID_OUT += ["training?topic=smoothing", "masks?masks=textbook"]
LAID_OUT += ["decode?checkpoint=everyday", "positions?view=lab"]
LAID_OUT += ["heads?checkpoint=en-de-1&heads_of=one"]
"""What else a page can show: another family, another view, and what is laid out in its own way."""
FEW = {
    "words and arrows": "",
    "a tree": "decode",
    "a chart and a table": "heads",
    "steps of a cell": "?picture=inside",
    "a scene above a page": "?story=figures-of-the-paper&scene=2",
}
"""What pages are made of; the map has its own test."""
SOME_WIDTHS = WIDTHS[0], WIDTHS[1], WIDTHS[-1]
"""A phone, which has one column; a low window, which has a line in place of the header; a stage."""
PICTURES = (
    '.head-map [role="grid"], .head-view [role="img"], .stPlotlyChart[role="figure"], figure.chart'
)

OTHERS = """(background) => [...document.querySelectorAll("*")]
.map((node) => node.shadowRoot?.querySelector(".headscope")?.style.getPropertyValue("--background"))
.filter((other) => other && other !== background)"""
"""Backgrounds of pictures that are drawn in another theme."""


def faults(page: Page, run: dict[str, Any] = ALL) -> list[str]:
    """What axe-core calls serious or critical, once the page has settled."""
    page.evaluate(ANIMATED)
    with suppress(AssertionError):  # what fades in, or waits for its style, is not there yet
        becomes(lambda: _faults(page, run), [])
    return _faults(page, run)


def _faults(page: Page, run: dict[str, Any]) -> list[str]:
    """Rule, element, and what is wrong."""
    if not page.evaluate("'axe' in window"):  # what it has compiled stays with it
        page.evaluate(Axe().axe_script)
    options = {"runOnly": run, "resultTypes": ["violations"]}
    found = page.evaluate("async (options) => (await axe.run(options)).violations", options)
    return [
        f"{rule['id']}: {node['html'][:120]} {node['failureSummary']}"
        for rule in found
        for node in rule["nodes"]
        if node["impact"] in ("serious", "critical")
    ]


def switch(page: Page, theme: Theme) -> None:
    """Show the page in another theme: it is drawn in it by itself, with all of its pictures."""
    page.emulate_media(color_scheme=theme.name)
    expect(page.get_by_test_id("stApp")).to_have_css("background-color", rgb(theme.background))
    page.wait_for_function(
        "dim => [...document.querySelectorAll('style')].some((it) => it.textContent.includes(dim))",
        arg=f"--dim: {theme.dim}",
    )
    painted(page)
    becomes(lambda: page.evaluate(OTHERS, theme.background), [])


def rgb(colour: str) -> str:
    return f"rgb({', '.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))})"


@pytest.mark.parametrize("place", cases([*MENU, *FURTHER, *LAID_OUT], FEW))
def test_a_page_is_for_everybody_and_can_be_seen_and_read(
    page: Page, address: str, place: str
) -> None:
    visit(page, f"{address}/{place}")
    if place in NAMED:
        assert_pictures_are_named(page, NAMED[place])
    assert faults(page) == [], LIGHT.name
    assert names_with_escapes(page) == []
    switch(page, DARK)
    assert faults(page, COLOURS) == [], DARK.name
    assert_it_can_be_read(page, SOME_WIDTHS if place in (*MENU, *LAID_OUT) else ())


@pytest.mark.thorough
@pytest.mark.parametrize("place", [*MENU, *LAID_OUT])
def test_at_every_width_a_page_can_be_seen_and_read(page: Page, address: str, place: str) -> None:
    visit(page, f"{address}/{place}")
    switch(page, DARK)
    assert_it_can_be_read(page, WIDTHS)


def assert_it_can_be_read(page: Page, widths: tuple[tuple[int, int], ...]) -> None:
    for width, height in widths:
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate(DRAWN)
        becomes(lambda: page.evaluate(FAULTS, LEAST), [])


def names_with_escapes(page: Page) -> list[str]:
    """Streamlit makes the label of a field its name as it is written, in Markdown."""
    named = page.locator("[aria-label]")
    names = named.evaluate_all("all => all.map(each => each.getAttribute('aria-label'))")
    return [name for name in names if "\\" in name]


@pytest.mark.thorough
def test_axe_finds_no_serious_fault_in_what_opens(page: Page, address: str) -> None:
    visit(page, address)
    for name in ("Options", "Show as", "Save", "Try"):
        opened = page.get_by_role("menu" if name == "Try" else "dialog")
        page.get_by_role("button", name=name, exact=True).press("Enter")
        opened.wait_for()
        at_rest(page)
        assert faults(page) == [], name
        page.keyboard.press("Escape")
        expect(opened).to_have_count(0)


NAMED = {"compare": 3, "positions": 1, "why_attention": 3}
"""Where pictures are read out, and how many there are at least."""


def assert_pictures_are_named(page: Page, at_least: int) -> None:
    """Each with its own sentence, which says a number."""
    pictures = page.locator(PICTURES)
    pictures.nth(at_least - 1).wait_for()
    names = pictures.evaluate_all("all => all.map(each => each.getAttribute('aria-label'))")
    assert all(re.search(r"\d", name) and len(name.split()) > 5 for name in names), names
    assert len(set(names)) == len(names)


def test_in_forced_colours_what_is_chosen_has_a_frame(page: Page, address: str) -> None:
    page.emulate_media(forced_colors="active")
    visit(page, f"{address}/?pins=q1")
    expect(page.locator(".head-view[data-nonce]")).to_have_count(1)
    style = "(node) => getComputedStyle(node).outlineStyle"
    for chosen in (
        page.locator('.cell[aria-selected="true"]'),
        page.locator('.token-rows .chip[aria-pressed="true"]').first,
        page.get_by_role("radio", name="Arrows"),
    ):
        assert chosen.evaluate(style) == "solid"
    page.emulate_media(forced_colors="none")
