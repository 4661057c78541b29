"""python -m tests.browser.screenshots: the pictures of the README, remade from the app."""

from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.browser.server import DESKTOP, PHONE, ROOT, launch, painted, serve

IMAGES = ROOT / "docs" / "images"
# name -> address, width, scheme, and what must be on the page before it is taken
PICTURES = {
    "explore": ("/", DESKTOP, "light", ".js-plotly-plot .main-svg"),
    "explore-dark": ("/?kind=Encoder", DESKTOP, "dark", ".js-plotly-plot .main-svg"),
    "explore-phone": ("/", PHONE, "light", ".head-grid[data-nonce]"),
    "compare": ("/compare", DESKTOP, "light", ".js-plotly-plot .main-svg"),
    "decode": ("/decode?step=6", DESKTOP, "light", ".decode-player[data-nonce]"),
    "positions": ("/positions", DESKTOP, "light", ".js-plotly-plot .main-svg"),
}


def take(browser: Browser, address: str, name: str) -> Path:
    """One picture of PICTURES as docs/images/NAME.png."""
    path, size, scheme, selector = PICTURES[name]
    context = browser.new_context(viewport=size, color_scheme=scheme)
    page = context.new_page()
    page.goto(address + path)
    page.wait_for_selector(selector, timeout=60_000)
    painted(page)
    page.wait_for_timeout(1500)  # Plotly and Streamlit fade in
    file = IMAGES / f"{name}.png"
    page.screenshot(path=file)
    context.close()
    return file


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright, serve() as address:
        browser = launch(playwright)
        for name in PICTURES:
            print(take(browser, address, name).relative_to(ROOT))
        browser.close()


if __name__ == "__main__":
    main()
