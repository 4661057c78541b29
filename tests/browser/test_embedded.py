"""A picture of the page without a server within somebody else's page, from another host."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

from tests.browser.hosted import hosted
from tests.browser.sentences import said
from tests.browser.server import ROOT, becomes
from transformer import decode, load_checkpoint, record
from transformer.analysis.reading import Reading, read
from viz.commands.site import page_words
from viz.live.models import POLICY
from viz.live.shelf.assets import own_files
from viz.live.site import build

pytestmark = pytest.mark.browser
NAME, SLOW = "en-de-small", 60_000
OTHER = "The old man sleeps."
DOCUMENT = (ROOT / "docs" / "deploy.md").read_text("utf-8")
(EXAMPLE,) = re.findall(r"```html\n(.*?)```", DOCUMENT, re.S)
"""The lines that the documentation offers."""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    out = tmp_path_factory.mktemp("site")
    build([load_checkpoint(NAME)], out, page_words())
    with hosted(out) as address:
        yield address


@pytest.fixture(scope="module")
def guest(host: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of somebody's page, whose lines lead to the host."""
    folder = tmp_path_factory.mktemp("guest")
    lines = EXAMPLE.replace("https://example.org/headscope/", host)
    page = f"<!doctype html><title>A page</title><p>Before.</p>{lines}<p>Behind.</p>"
    (folder / "index.html").write_text(page)
    with hosted(folder) as address:
        yield address


def shows(frame: FrameLocator, text: str, place: tuple[str, int, int]) -> None:
    """Wait until the map of the head is there, in Python's words and numbers."""
    checkpoint = load_checkpoint(NAME)
    decoding = decode(checkpoint, text, "beam")
    expect(frame.locator("output").first).to_have_text(f"→ {decoding.text}", timeout=SLOW)
    kind, layer, head = place
    map = read(record(checkpoint, text, decoding.target), kind, Reading(words=True))
    column = int(map.values(layer, head)[0].argmax())
    label = said(map, layer, head, 0, column)
    expect(frame.locator('.head-map [role="gridcell"]').first).to_have_text(label)


def test_both_ways_show_the_picture_of_their_address_and_follow_what_is_typed(
    browser: Browser, guest: str, host: str
) -> None:
    context, wrong = browser.new_context(viewport={"width": 1000, "height": 900}), list[str]()
    context.on("console", lambda m: wrong.append(m.text) if m.type == "error" else None)
    context.on("weberror", lambda error: wrong.append(str(error.error)))
    page = context.new_page()
    page.goto(guest)
    frames = page.locator("iframe")
    expect(frames).to_have_count(2)  # the script has made one
    opens_at = load_checkpoint(NAME).about.opens_at
    by_frame, by_script = (page.frame_locator("iframe").nth(i) for i in range(2))
    shows(by_frame, "It rains.", ("cross", 1, 2))
    shows(by_script, "She has two dogs.", opens_at)
    by_script.get_by_label("Sentence").fill(OTHER)
    shows(by_script, OTHER, opens_at)
    becomes(lambda: fits(page), True)
    link = by_frame.get_by_role("link", name="Open the whole page")
    whole = link.evaluate("it => it.href")
    assert whole == f"{host}index.html?text=It%20rains.&kind=cross&layer=1&head=2&picture=map"
    expect(by_frame.locator(".lacks")).to_be_hidden()
    page.goto(f"{host}figure.html?text=It+rains.&checkpoint=another&lens=rollout")
    expect(page.locator(".lacks")).to_contain_text("checkpoint=another, lens=rollout")
    page.goto(whole)
    chosen = page.get_by_role("gridcell", selected=True).first
    expect(chosen).to_have_accessible_name(re.compile("^Cross L1 H2"), timeout=SLOW)
    assert [each for each in wrong if "favicon" not in each and "404" not in each] == []
    context.close()


def fits(page: Page) -> bool:
    """Whether the frame of the script is as high as what it shows."""
    frame = page.locator("iframe").nth(1)
    body = page.frame_locator("iframe").nth(1).locator("body")
    heights = (
        frame.evaluate("it => it.offsetHeight"),
        body.evaluate("it => Math.ceil(it.getBoundingClientRect().height)"),
    )
    return heights[0] == heights[1] > 200


def test_the_policy_of_a_frame_is_that_of_the_page(tmp_path: Path) -> None:
    build([load_checkpoint("copy")], tmp_path, page_words())
    found = re.search(r'Policy" content="([^"]*)"', (tmp_path / "figure.html").read_text("utf-8"))
    assert found is not None and found[1] == own_files(f"{POLICY}; connect-src 'self'")
