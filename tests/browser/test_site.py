"""The lists of a folder without a server: what they lead to, and what a visit fetches."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.hosted import hosted
from tests.browser.visits import counted, visit
from tests.viz.live.test_site import APP, HERE, NAME, written

pytestmark = pytest.mark.browser
TEXT = "It rains."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def host(folder: Path) -> Iterator[str]:
    with hosted(folder) as address:
        yield address


@pytest.fixture
def visitor(browser: Browser) -> Iterator[BrowserContext]:
    """Somebody who has never been here; fails where the console reports an error."""
    context, wrong = browser.new_context(viewport={"width": 1440, "height": 900}), list[str]()
    context.on("console", lambda m: wrong.append(m.text) if m.type == "error" else None)
    context.on("weberror", lambda error: wrong.append(str(error.error)))
    yield context
    context.close()
    assert wrong == []


def menu(page: Page, title: str) -> None:
    page.locator("#others summary").click()
    page.locator("#others").get_by_role("button", name=title, exact=True).click()
    expect(page.locator("#others summary")).to_contain_text(title)


def test_a_card_opens_here_and_a_story_in_its_page_and_both_lead_back(
    visitor: BrowserContext, host: str
) -> None:
    asked = list[str]()
    visitor.on("request", lambda request: asked.append(request.url))
    page = visitor.new_page()
    page.goto(f"{host}?page=gallery")
    card = page.get_by_role("link", name=f"Open: {HERE}")
    expect(card).to_be_visible()
    expect(page.locator(".typed")).to_be_hidden()
    page.locator(".cards img").first.scroll_into_view_if_needed()
    expect(page.locator(".cards img").first).to_have_js_property("complete", True)
    assert page.locator(".cards img").first.evaluate("(image) => image.naturalWidth") > 0
    assert sum("gallery/" in each for each in asked) == 1  # of the theme that is seen
    assert not any("weights/" in each for each in asked)
    card.click()
    expect(page.locator("html")).to_have_attribute("data-shown", re.compile("regnet"))
    expect(page.get_by_label("Sentence", exact=True)).to_have_value(TEXT)
    assert sum(each == page.url or each == f"{host}?page=gallery" for each in asked) == 1
    page.go_back()
    expect(card).to_be_visible()
    menu(page, "Stories")
    page.get_by_role("link", name=APP, exact=True).click()
    expect(page.get_by_role("heading", name=APP)).to_be_visible()
    expect(page.locator(".picture :is(.head-view, .head-map)[data-nonce]").first).to_be_visible()
    assert page.url == f"{host}stories/few.html#3"
    page.get_by_role("link", name="All stories").click()
    expect(page.get_by_role("link", name=APP, exact=True)).to_be_visible()
    menu(page, "Lessons")
    expect(page.locator(".lessons li")).to_have_count(1)


def test_an_address_of_the_app_leads_to_what_is_here_or_says_what_is_not(
    visitor: BrowserContext, host: str
) -> None:
    page = visitor.new_page()
    page.goto(f"{host}?story=few&scene=2&text=Anything")
    expect(page.get_by_role("heading", name="A page of the app")).to_be_visible()
    assert page.url == f"{host}stories/few.html#2"
    page.goto(f"{host}?page=training&text={TEXT}&checkpoint=/own/model")
    line = page.locator("#elsewhere")
    for words in ("“Training”", "/own/model", "make run", "Explore"):
        expect(line).to_contain_text(words)
    expect(page.get_by_label("Sentence", exact=True)).to_have_value(TEXT)
    expect(page.locator(".head-grid[data-nonce]")).to_be_visible()


def test_on_a_phone_all_pages_are_in_the_menu(browser: Browser, folder: Path) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, offline=True)
    page = context.new_page()
    page.goto(f"{(folder / 'index.html').as_uri()}?page=lessons")  # from a disk
    expect(page.locator(".lessons li")).to_have_count(1)
    expect(page.locator("nav > button:visible")).to_have_count(0)
    menu(page, "Gallery")
    expect(page.locator(".cards li")).to_have_count(3)
    assert page.locator(".cards img").first.evaluate(
        "(image) => image.decode().then(() => image.naturalWidth)"
    )
    page.locator("#others summary").click()
    page.keyboard.press("Escape")
    expect(page.locator("#others")).not_to_have_attribute("open", "")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.goto((folder / "stories" / "few.html").as_uri())
    expect(page.locator(".picture [data-nonce]").first).to_be_visible()
    context.close()


@pytest.mark.thorough
def test_a_second_visit_fetches_nothing_and_a_second_page_what_is_its_own(
    visitor: BrowserContext, folder: Path
) -> None:
    with counted(folder) as (host, sent):
        first = visit(visitor, host, sent, NAME)
        again = visit(visitor, host, sent, NAME)
        link = visit(visitor, f"{host}?text=It+snows.", sent, NAME)
        story = visit(visitor, f"{host}stories/few.html", sent)
    assert first.of("weights/") > 3e6 and first.of("assets/") < 400_000
    assert again.n_bytes == 0
    assert list(link.files) == ["/"] and link.n_bytes < 30_000
    own = [each for each in story.files if not each.startswith("/assets/notebook_story.")]
    assert own == ["/stories/few.html"]
