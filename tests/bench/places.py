"""Where benches of the browser take place: pages, and the addresses of apps, shared by all."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page, sync_playwright

from tests.browser.server import DESKTOP, ROOT, launch, serve

APPS = Path(__file__).parent / "apps"


@dataclass(frozen=True)
class Places:
    """Pages and apps, whoever has begun their browser and servers."""

    new_page: Callable[[], Page]
    begin: Callable[[str], str]
    """The name of a file in APPS, or "" for the app itself -> its address, up to the query."""

    def address(self, app: str, **query: str) -> str:
        """Of an app with this query."""
        return self.begin(app) + urlencode(query)


@contextmanager
def own_places() -> Iterator[Places]:
    """A browser, whose pages share nothing, and one server an app."""
    with ExitStack() as stack:
        browser = launch(stack.enter_context(sync_playwright()))
        stack.callback(browser.close)

        @cache
        def begin(app: str) -> str:
            script = APPS / f"{app}.py" if app else ROOT / "app.py"
            return f"{stack.enter_context(serve(script))}/?"

        yield Places(lambda: browser.new_page(viewport=DESKTOP), begin)
