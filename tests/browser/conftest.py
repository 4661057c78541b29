"""One server and one browser for all browser tests; a new page, and so a new session, each."""

import os
from collections.abc import Generator, Iterator
from contextlib import suppress

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Error,
    Page,
    TimeoutError,
    expect,
    sync_playwright,
)

from tests.browser.server import APPS, DESKTOP, ROOT, launch, serve
from transformer import Recording, decode, load_checkpoint, record

expect.set_options(timeout=20_000)  # what is expected comes, however busy the machine is

CHEAPER = (
    "--process-per-site",
    "--js-flags=--no-opt --invocation-count-for-maglev=2000",
    # Playwright's own, which this takes the place of, and what keeps fonts and scripts of a page.
    "--enable-features=CDPScreenshotNewSurface,MemoryCacheStrongReference",
    # Its own of what shows in tests; and scripts, which come from memory, are parsed once.
    "--disable-features=AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,"
    "HttpsUpgrades,PaintHolding,ThirdPartyStoragePartitioning,ScriptStreaming",
)
"""All pages share a process, and what is optimised in a page would not pay within its test: a page
costs 1.0 s of the processor instead of 1.8. Only loops that run for long, as axe-core's, do."""
FORGET = "try { localStorage.clear() } catch {}; delete document.documentElement.dataset.tour"
"""What the app keeps in the browser, as that the sidebar is open: the next test finds it closed."""

OVER = ':popover-open, [role="dialog"]:visible, [role="menu"]:visible'
REST = 500
"""Milliseconds after which the server has been told of a step, a pin, a letter: of this address."""
TIMERS = f"""
const open = new Set(), {{ setTimeout: start, clearTimeout: stop }} = window;
window.setTimeout = (act, after, ...given) => {{
    const id = start(() => {{ open.delete(id); act(...given); }}, after);
    if (after <= {REST}) open.add(id);
    return id;
}};
window.clearTimeout = (id) => {{ open.delete(id); stop(id); }};
window.isAtRest = () => !open.size;
"""
"""So that a page is known to be at rest before that time is over, as most are."""
FAILED = pytest.StashKey[bool]()
WITHOUT = "HEADSCOPE_TESTS_WITHOUT_BROWSER"
"""The setting under which the tests of a browser are skipped where there is none."""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        try:
            opened = launch(playwright, *CHEAPER)
        except Error as error:
            said = f"no browser: {str(error).splitlines()[0]}"
            if not os.environ.get(WITHOUT):
                pytest.fail(f"{said}. Set {WITHOUT}=yes to run the other tests.", pytrace=False)
            pytest.skip(said)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    with serve() as address:
        yield address


@pytest.fixture(scope="session")
def apps() -> Iterator[str]:
    """Where one server has every app of the folder apps; a test adds the name of its own."""
    with serve(APPS) as address:
        yield f"{address}/?app="


@pytest.fixture(scope="session")
def recording() -> Recording:
    """Of the sentence that the app starts with, translated as the app does it."""
    checkpoint = load_checkpoint(ROOT / "checkpoints" / "en-de")
    text = checkpoint.about.examples[0]
    return record(checkpoint, text, decode(checkpoint, text, method="beam").target)


@pytest.fixture(scope="session")
def context(browser: Browser) -> BrowserContext:
    """Of all tests, so that Streamlit's code is fetched once; the app keeps nothing in it.

    Its first page stays open, and with it the process that all pages share.
    """
    context = browser.new_context(viewport=DESKTOP)
    context.set_default_timeout(60_000)
    context.add_init_script(TIMERS)
    first = context.new_page()
    first.route("**", lambda route: route.fulfill(body=""))
    first.goto("http://127.0.0.1/")
    return context


@pytest.fixture(scope="module")
def shared(context: BrowserContext) -> Iterator[list[Page]]:
    """The page that tests of a file share, while it is not in use; none after a failure."""
    pages: list[Page] = []
    yield pages
    for page in pages:
        page.close()


@pytest.fixture
def page(
    request: pytest.FixtureRequest, context: BrowserContext, shared: list[Page]
) -> Iterator[Page]:
    """A fresh session that fails the test when the console reports an error.

    Of tests that are marked `same_page`, one for all of the file, as to load a page costs a second:
    `visit` leads on in it, and `open_app` loads it anew with a fresh session.
    """
    is_shared = request.node.get_closest_marker("same_page") is not None
    page = shared.pop() if is_shared and shared else context.new_page()
    others = [each for each in context.pages if each != page]
    errors: list[str] = []
    page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.set_offline(False)
    if not page.is_closed():
        page.evaluate(FORGET)
        if is_shared and not request.node.stash[FAILED]:
            tidy(page)
            shared.append(page)
    for opened in context.pages:
        if opened not in [*others, *shared]:
            opened.close()
    assert errors == []


def tidy(page: Page) -> None:
    """Make a page what a fresh one is, but for its address."""
    if page.locator(OVER).count():
        page.keyboard.press("Escape")
    sidebar = page.get_by_test_id("stSidebar")
    if sidebar.is_visible():  # its button is seen by who points at it
        page.get_by_test_id("stSidebarCollapseButton").locator("button").dispatch_event("click")
    page.unroute_all()
    page.set_viewport_size(DESKTOP)
    page.emulate_media(color_scheme="light", reduced_motion="no-preference")
    page.mouse.move(0, 0)
    expect(page.locator(OVER)).to_have_count(0)
    expect(sidebar).to_be_hidden()
    with suppress(TimeoutError):  # something moves for ever
        page.wait_for_function("isAtRest()", timeout=REST)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let the page know of a failure: nobody shares it then."""
    report = yield
    item.stash[FAILED] = report.failed
    return report
