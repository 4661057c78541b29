"""python -m tests.browser.film: the moving picture of the README, taken from the app.

A sentence is typed, a written word is asked what it needs, and a branch is taken: twelve seconds,
as an animated WebP of at most 2 MB. Every frame is taken once a fact of the page is there.
"""

import re
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from urllib.parse import quote_plus

from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.server import ROOT, at_rest, launch, serve

FILE = ROOT / "docs" / "images" / "film.webp"
TEXT = "The waiter brought the bill and a glass of port."
"""The model writes "Hafen", a harbour; its second choice is "Port"."""
WORD, STEP, BETTER = "Hafen", 10, "Port"
SIZE = {"width": 1280, "height": 720}
LETTERS = 3
"""Letters between two frames."""
PATIENCE = 120_000
"""Milliseconds that a busy machine may take for one fact."""
TYPED, ENTERED, ASKED, STEPPED, CHOSEN, BRANCHED = 160, 1000, 2800, 1500, 1500, 2800
"""Milliseconds that frames stand."""
SOURCE, TARGET = (f'.token-rows .chip[data-side="{side}"]' for side in ("source", "target"))
DRAWN = ".head-view[data-nonce]"


class Film:
    """Frames of a page, each with the milliseconds that it stands."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.frames: list[tuple[Image.Image, int]] = []

    def take(self, milliseconds: int) -> None:
        """Take the page as it stands now."""
        png = Image.open(BytesIO(self.page.screenshot())).convert("RGB")
        self.frames.append((png.resize((960, 540), Image.Resampling.LANCZOS), milliseconds))

    def save(self, file: Path) -> None:
        """Write all frames as an animated WebP."""
        images, times = zip(*self.frames, strict=True)
        images[0].save(
            file,
            save_all=True,
            append_images=images[1:],
            duration=list(times),
            loop=0,
            quality=72,
            method=6,
            minimize_size=True,
        )


def play(browser: Browser, address: str) -> Film:
    """Type, ask a word, take a branch."""
    page = browser.new_context(viewport=SIZE, color_scheme="light").new_page()
    page.set_default_timeout(PATIENCE)
    film = Film(page)
    page.goto(f"{address}/?checkpoint=en-de&decoding=beam&text=We")
    page.wait_for_selector(DRAWN)
    at_rest(page)
    type_text(film)
    ask_word(film)
    take_branch(film, address)
    return film


def type_text(film: Film) -> None:
    """A frame for every few letters, each with the preview of what stands in the field."""
    page = film.page
    field = page.get_by_label("Sentence").first
    for end in [*range(2 + LETTERS, len(TEXT), LETTERS), len(TEXT)]:
        before = picture(page)
        field.fill(TEXT[:end])
        until(lambda end=end: letters(page) == TEXT[:end].replace(" ", ""))
        if not TEXT[:end].endswith(" "):
            until(lambda before=before: picture(page) != before)
        film.take(TYPED)
    field.press("Enter")
    page.wait_for_function("location.href.includes('port')")
    expect(page.locator(TARGET, has_text=WORD)).to_be_visible()
    at_rest(page)
    film.take(ENTERED)


def letters(page: Page) -> str:
    """The tokens of the source without spaces."""
    return re.sub(r"[\s▁␣]|</s>", "", "".join(page.locator(SOURCE).all_inner_texts()))


def picture(page: Page) -> str | None:
    """The nonce of the head that is drawn: another one for another picture."""
    return page.locator(DRAWN).get_attribute("data-nonce")


def until(is_so: Callable[[], bool]) -> None:
    """Wait for a fact of the page."""
    deadline = time.monotonic() + PATIENCE / 1000
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError("the page did not become what the film shows")
        time.sleep(0.05)


def ask_word(film: Film) -> None:
    """What the wrong word needs."""
    page = film.page
    page.locator(TARGET, has_text=WORD).first.click()
    card = page.locator(".tables .title", has_text=WORD).first
    expect(card).to_be_visible()
    card.evaluate("node => node.scrollIntoView({ block: 'center' })")
    at_rest(page)
    film.take(ASKED)


def take_branch(film: Film, address: str) -> None:
    """The step at which it was written, and another candidate in its place."""
    page = film.page
    query = f"checkpoint=en-de&decoding=beam&text={quote_plus(TEXT)}&step={STEP}"
    page.goto(f"{address}/decode?{query}")
    better = page.locator(".decode-player .bar.branches", has_text=BETTER).first
    expect(better).to_be_visible()
    at_rest(page)
    film.take(STEPPED)
    better.hover()  # which scrolls to it
    at_rest(page)
    film.take(CHOSEN)
    better.click()
    lines = page.locator(".st-key-branches .text-lines")
    expect(lines).to_contain_text(BETTER)
    expect(lines).to_be_in_viewport()
    at_rest(page)
    film.take(BRANCHED)


def main() -> None:
    """Write the film."""
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright, serve() as address:
        browser = launch(playwright)
        play(browser, address).save(FILE)
        browser.close()
    print(FILE.relative_to(ROOT), FILE.stat().st_size)


if __name__ == "__main__":
    main()
