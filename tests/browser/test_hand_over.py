"""A server that is held up leads to the page that runs in the browser, which it serves itself."""

import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import ROOT, becomes, serve
from tests.browser.test_app import open_app, parameter
from tests.browser.test_live import SLOW, field, shows, written
from transformer import load_checkpoint

pytestmark = pytest.mark.browser
APP = Path(__file__).parent / "apps" / "held_up.py"
NAME = "en-de-small"
FIRST, TYPED = "It rains.", "She has two dogs."


@pytest.fixture(scope="module")
def held_up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the server, once the page is made."""
    folder, cache = (tmp_path_factory.mktemp(name) for name in ("checkpoints", "cache"))
    (folder / NAME).symlink_to(ROOT / "checkpoints" / NAME)
    said = {"LIVE": "yes", "CHECKPOINTS": str(folder)}
    settings = {f"HEADSCOPE_{name}": value for name, value in said.items()}
    with serve(APP, PYTHONPATH=str(ROOT), XDG_CACHE_HOME=str(cache), **settings) as address:
        deadline = time.monotonic() + 120
        while not is_there(f"{address}/live/"):
            assert time.monotonic() < deadline
            time.sleep(0.2)
        yield address


def is_there(address: str) -> bool:
    with suppress(urllib.error.HTTPError), urllib.request.urlopen(address):  # 503: it is being made
        return True
    return False


@pytest.mark.thorough
def test_whoever_waits_goes_on_in_the_browser_with_what_is_typed(page: Page, held_up: str) -> None:
    open_app(page, f"{held_up}/?text={FIRST}&kind=cross&layer=1&head=2")
    sentence = field(page)
    sentence.fill("She has")
    sentence.press("Enter")
    offer = page.locator("a[data-typed]")
    expect(offer).to_be_visible()
    expect(offer).not_to_be_focused()
    sentence.fill(TYPED)
    offer.click()
    page.wait_for_url("**/live/?**")
    shows(page, written(load_checkpoint(NAME), TYPED))
    expect(field(page)).to_have_value(TYPED)
    becomes(lambda: [parameter(page, each) for each in ("kind", "layer")], ["cross", "1"])
    field(page).fill(FIRST)
    shows(page, written(load_checkpoint(NAME), FIRST))
    page.get_by_role("link", name="In the app").click()  # which goes on with what was typed there
    expect(page.get_by_role("textbox", name="Sentence")).to_have_value(FIRST, timeout=SLOW)
    expect(page.locator(".token-rows[data-nonce]")).to_be_visible()
