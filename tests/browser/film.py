"""python -m tests.browser.film: the moving picture of the README, taken from the app.

A sentence is typed, a written word is asked what it needs, and a branch is taken: some twelve
seconds, as an animated WebP of at most 2 MB.
"""

from io import BytesIO
from pathlib import Path
from urllib.parse import quote_plus

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.server import ROOT, launch, painted, serve

FILE = ROOT / "docs" / "images" / "film.webp"
TEXT = "We picked strawberries in the garden and made jam."
"""The model writes "Jazz" for jam; its second choice begins "Marmelade"."""
WORD, STEP, BETTER = "Jazz", 11, "Mar"
SIZE = {"width": 1280, "height": 720}
LETTERS = 3
"""Letters between two frames."""


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
    film = Film(page)
    page.goto(f"{address}/?checkpoint=en-de&decoding=beam&text=We")
    painted(page)
    field = page.get_by_label("Sentence").first
    for end in [*range(2, len(TEXT), LETTERS), len(TEXT)]:
        field.fill(TEXT[:end])
        page.wait_for_timeout(700)  # its preview is drawn
        film.take(170)
    field.press("Enter")
    painted(page)
    page.wait_for_timeout(1500)
    film.take(900)
    page.locator(".token-rows").get_by_role("button", name=WORD).first.click()
    page.wait_for_selector(".word-card, .why-word, .st-key-why")
    page.wait_for_timeout(2500)
    film.take(2800)
    query = f"checkpoint=en-de&decoding=beam&text={quote_plus(TEXT)}&step={STEP}"
    page.goto(f"{address}/decode?{query}")
    painted(page)
    page.wait_for_timeout(2500)
    film.take(2200)
    page.locator(".decode-player .bar.branches", has_text=BETTER).first.click()
    page.wait_for_selector(".st-key-branches .text-lines")
    painted(page)
    page.wait_for_timeout(2500)
    film.take(3000)
    return film


def main() -> None:
    """Write the film."""
    with sync_playwright() as playwright, serve() as address:
        browser = launch(playwright)
        play(browser, address).save(FILE)
        browser.close()
    print(FILE.relative_to(ROOT), FILE.stat().st_size)


if __name__ == "__main__":
    main()
