"""The first load: the bytes and the requests that it takes, beside an empty page of Streamlit's."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route

from tests.browser.server import painted, serve
from tests.representatives import thorough
from viz.server.shell import CHARTS, SMALL, scripts

pytestmark = pytest.mark.browser

FETCHED = """(name) => performance.getEntriesByType("resource")
    .some((each) => each.name.includes(name))"""
MOST_BYTES = 800_000
MOST_REQUESTS = 32
"""Half of an empty page's, whose small scripts come one by one."""
DRAWN = ".head-view[data-nonce]"


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    script = tmp_path_factory.mktemp("empty") / "empty.py"
    script.write_text("import streamlit as st\nst.write('nothing')\n")
    with serve(script) as address:
        yield address


@pytest.fixture
def cold(browser: Browser) -> Iterator[Page]:
    """A page whose browser keeps nothing yet."""
    context = browser.new_context()
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module")
def loaded(browser: Browser, address: str) -> Iterator[tuple[Page, dict[str, int]]]:
    """One that has just loaded the app, and the bytes of each address that it fetched."""
    context = browser.new_context()
    page = context.new_page()
    yield page, load(page, address, DRAWN)
    context.close()


def load(page: Page, address: str, drawn: str) -> dict[str, int]:
    """Every address that is fetched, with the bytes on the line."""
    names: dict[str, str] = {}
    sizes: dict[str, int] = {}
    browser = page.context.new_cdp_session(page)
    browser.send("Network.enable")
    browser.on(
        "Network.requestWillBeSent", lambda e: names.update({e["requestId"]: e["request"]["url"]})
    )
    browser.on(
        "Network.loadingFinished",
        lambda e: sizes.update({e["requestId"]: int(e["encodedDataLength"])}),
    )
    page.goto(address)
    page.wait_for_selector(drawn)
    painted(page)
    page.evaluate("document.fonts.ready.then(() => true)")
    page.wait_for_load_state("networkidle")
    browser.detach()
    return {names[each]: size for each, size in sizes.items() if names[each].startswith("http")}


def whole_typefaces(page: Page, address: str, drawn: str) -> list[str]:
    return [name for name in load(page, address, drawn) if "/media/" in name and "woff2" in name]


def test_the_first_screen_is_light(
    loaded: tuple[Page, dict[str, int]], empty: str, cold: Page
) -> None:
    _, ours = loaded
    theirs = load(cold, empty, '[data-testid="stMarkdownContainer"]')
    assert sum(ours.values()) <= MOST_BYTES < sum(theirs.values())
    assert len(ours) <= MOST_REQUESTS <= len(theirs) / 2
    assert [name for name in ours if "/media/" in name and "woff2" in name] == []


@pytest.mark.thorough
def test_what_draws_charts_runs_before_there_are_any(address: str, cold: Page) -> None:
    """Once the first screen rests, for whoever has seen one before; with that screen for nobody."""
    assert not any(CHARTS in name for name in load(cold, address, DRAWN))
    cold.goto(f"{address}/compare")
    cold.wait_for_selector(".js-plotly-plot .main-svg")
    cold.goto(address)
    cold.wait_for_function(FETCHED, arg=CHARTS)
    assert cold.locator(".js-plotly-plot").count() == 0


@pytest.mark.parametrize(
    "lacks", ["the file", thorough("import maps"), thorough("a script in the file")]
)
def test_without_the_file_each_script_is_fetched(lacks: str, address: str, cold: Page) -> None:
    if lacks == "the file":
        cold.route("**/chunks.json*", lambda route: route.abort())
    elif lacks == "import maps":
        cold.add_init_script(
            """const append = Element.prototype.append;
            Element.prototype.append = function (...nodes) {
                append.apply(this, nodes.filter((node) => node.type !== "importmap"));
            };"""
        )
    else:
        cold.route("**/chunks.json*", without_the_last)
    names = load(cold, address, DRAWN)
    n_scripts = sum("/static/js/" in name for name in names)
    n_large = sum(len(text) > SMALL for text in scripts().values())
    assert n_scripts == (n_large + 1 if lacks == "a script in the file" else len(scripts()))


def without_the_last(route: Route) -> None:
    route.fulfill(json=dict([*route.fetch().json().items()][:-1]))


def test_letters_that_the_copies_lack_come_from_the_whole_typeface(
    address: str, cold: Page
) -> None:
    names = whole_typefaces(cold, f"{address}/?checkpoint=copy&text=Жук", DRAWN)
    assert ["Upright" in name for name in names if "Source" in name] == [True]


@pytest.mark.parametrize("icon", ["arrow_forward", "keyboard_double_arrow_right"])
def test_an_icon_is_one_sign(icon: str, loaded: tuple[Page, dict[str, int]]) -> None:
    page, _ = loaded
    wide, high = page.evaluate(
        """(name) => {
            const node = document.createElement("span");
            node.style = "font: 20px 'Material Symbols Rounded'; position: fixed; top: 0";
            node.textContent = name;
            document.body.append(node);
            return document.fonts.load("20px 'Material Symbols Rounded'", name)
                .then(() => [node.offsetWidth, node.offsetHeight]);
        }""",
        icon,
    )
    assert wide <= 24 and high <= 30


def test_the_files_are_small() -> None:
    folder = Path(__file__).parents[2] / "viz" / "server" / "typefaces"
    assert 50_000 < sum(file.stat().st_size for file in folder.glob("*.woff2")) < 150_000
