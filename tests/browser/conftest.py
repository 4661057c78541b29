"""One server and one browser for all browser tests; a page for each file."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Page,
    expect,
    sync_playwright,
)

from tests.browser.server import APPS, DESKTOP, ROOT, launch, painted, serve
from transformer import Recording, decode, load_checkpoint, record

expect.set_options(timeout=20_000)  # what is expected comes, however busy the machine is

TELL_LATER, REST = ".head-view, .decode-player, .snapshot-player", 350
"""Components that tell only what has rested for 300 milliseconds."""
HARMLESS = "404 (Not Found)"
"""Streamlit looks for its own files below a sub-page's address first."""
FORGET = "try { localStorage.clear() } catch {}"  # as that the sidebar is open
BLUR = """() => {
    let focused = document.activeElement;
    while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
    focused?.blur();
    document.querySelector('[data-testid="stMain"]')?.scrollTo(0, 0);
}"""
"""Nothing has the focus, and nothing is scrolled."""


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        try:
            opened = launch(playwright)
        except Error as error:
            pytest.skip(f"no browser: {str(error).splitlines()[0]}")
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    with serve() as address:
        yield address


@pytest.fixture(scope="session")
def components() -> Iterator[str]:
    """Of the server that shows components alone."""
    with serve(APPS / "components.py", PYTHONPATH=str(ROOT)) as address:
        yield address


@pytest.fixture(scope="session")
def recording() -> Recording:
    """Of the sentence that the app starts with, translated as the app does it."""
    checkpoint = load_checkpoint(ROOT / "checkpoints" / "en-de")
    text = checkpoint.about.examples[0]
    return record(checkpoint, text, decode(checkpoint, text, method="beam").target)


@pytest.fixture(scope="session")
def context(browser: Browser) -> BrowserContext:
    """Of all tests, so that Streamlit's code is fetched once; the app keeps nothing in it."""
    context = browser.new_context(viewport=DESKTOP)
    context.set_default_timeout(60_000)
    return context


@pytest.fixture(scope="module")
def opened(context: BrowserContext) -> list[Page]:
    """The page that the tests of a file share, once one of them has asked for it."""
    return []


@pytest.fixture
def page(
    context: BrowserContext, opened: list[Page], request: pytest.FixtureRequest
) -> Iterator[Page]:
    """The page of all tests of a file, which `open_app` takes to another address.

    A console that reports an error fails the test. After a failure, the next one gets a new page.
    """
    if not opened:
        opened.append(context.new_page())
    page, n_failed, is_clean = opened[0], request.session.testsfailed, False
    try:
        with without_errors(page):
            yield page
            if request.session.testsfailed == n_failed:
                put_back(page)
                is_clean = True
    finally:
        _close(context, opened if is_clean else [])
        opened[:] = opened if is_clean else []


@pytest.fixture
def fresh_page(context: BrowserContext, opened: list[Page]) -> Iterator[Page]:
    """A tab of its own, with a history and a session of its own; else as `page`."""
    page = context.new_page()
    with without_errors(page):
        yield page
        page.evaluate(FORGET)
        context.set_offline(False)
        _close(context, opened)


@contextmanager
def without_errors(page: Page) -> Iterator[None]:
    """Assert that the console reports no error."""
    errors: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        if message.type == "error":
            errors.append(message.text)

    def fail(error: Error) -> None:
        errors.append(str(error))

    page.on("console", hear)
    page.on("pageerror", fail)
    yield
    page.remove_listener("console", hear)
    page.remove_listener("pageerror", fail)
    assert [text for text in errors if HARMLESS not in text] == []


def put_back(page: Page) -> None:
    """What no address says, once all that the test began has come to its end."""
    painted(page)
    page.evaluate(FORGET)
    page.emulate_media(color_scheme="light")
    if page.viewport_size != DESKTOP:
        page.set_viewport_size(DESKTOP)
    page.evaluate(BLUR)
    page.keyboard.press("Escape")
    page.mouse.move(0, 0)
    if page.locator(TELL_LATER).count():
        page.wait_for_timeout(REST)
        painted(page)


def _close(context: BrowserContext, but: list[Page]) -> None:
    for page in context.pages:
        if page not in but:
            page.close()
