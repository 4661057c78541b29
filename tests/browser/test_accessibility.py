"""axe-core finds no serious or critical fault on any page, in light and in dark."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.server import at_rest, painted
from tests.browser.test_app import open_app
from transformer.discover import discover
from viz.screen import FIRST_PAGE
from viz.theme import DARK, LIGHT, Theme

pytestmark = pytest.mark.browser

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
MENU = ["" if name == FIRST_PAGE else name for name in discover("viz.pages", "PAGE")]
"""The address of every page."""
POSITIONS = [
    f"positions?view={view.name}"
    for view in discover("viz.views", "VIEW").values()
    if view.name in ("encoding_curves", "token_vectors")  # all kinds of controls are in these two
]
FURTHER = [
    *(f"{page}?checkpoint={name}" for page in ("", "decode") for name in ("everyday", "sentiment")),
    "decode?text=",  # a warning
    "training?topic=rate",
    "training?topic=loss",
    "training?topic=smoothing",
    "masks?masks=textbook",
    "?story=figures-of-the-paper&scene=2",
    *POSITIONS,
    "positions?view=lab",
]
"""What else a page can show: another family, another view."""
PICTURES = '.head-map [role="grid"], .head-view [role="img"], .stPlotlyChart[role="figure"]'


def faults(page: Page) -> list[str]:
    """What axe-core calls serious or critical, once the page has settled."""
    page.evaluate("Promise.allSettled(document.getAnimations().map(each => each.finished))")
    if not _faults(page):
        return []
    page.wait_for_timeout(2000)  # what fades in, or waits for its style, is not there yet
    return _faults(page)


def _faults(page: Page) -> list[str]:
    """Rule, element, and what is wrong."""
    options = {"runOnly": {"type": "tag", "values": RULES}, "resultTypes": ["violations"]}
    found = Axe().run(page, options=options).response["violations"]
    return [
        f"{rule['id']}: {node['html'][:120]} {node['failureSummary']}"
        for rule in found
        for node in rule["nodes"]
        if node["impact"] in ("serious", "critical")
    ]


def switch(page: Page, theme: Theme) -> None:
    """Show the page in another theme. Streamlit tells Python of it when the script runs again."""
    page.emulate_media(color_scheme=theme.name)
    expect(page.get_by_test_id("stApp")).to_have_css("background-color", rgb(theme.background))
    page.get_by_test_id("stApp").press("r")
    page.wait_for_function(
        "dim => [...document.querySelectorAll('style')].some((it) => it.textContent.includes(dim))",
        arg=f"color: {theme.dim}",
    )
    painted(page)


def rgb(colour: str) -> str:
    return f"rgb({', '.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))})"


@pytest.mark.parametrize("place", [*(p for p in MENU if p != "positions"), *FURTHER])
def test_axe_finds_no_serious_fault(page: Page, address: str, place: str) -> None:
    open_app(page, f"{address}/{place}")
    assert faults(page) == [], LIGHT.name
    switch(page, DARK)
    assert faults(page) == [], DARK.name


@pytest.mark.parametrize("name", ["Options", "Show as", "Save", "Try"])
def test_axe_finds_no_serious_fault_in_what_opens(page: Page, address: str, name: str) -> None:
    open_app(page, address)
    page.get_by_role("button", name=name, exact=True).press("Enter")
    page.get_by_role("menu" if name == "Try" else "dialog").wait_for()
    at_rest(page)
    assert faults(page) == []


@pytest.mark.parametrize("place", ["compare", "positions", "why_attention"])
def test_every_picture_has_a_name_that_says_something(page: Page, address: str, place: str) -> None:
    open_app(page, f"{address}/{place}")
    pictures = page.locator(PICTURES)
    pictures.nth(0 if place == "positions" else 2).wait_for()
    names = pictures.evaluate_all("all => all.map(each => each.getAttribute('aria-label'))")
    assert all(re.search(r"\d", name) and len(name.split()) > 5 for name in names), names
    assert len(set(names)) == len(names)
