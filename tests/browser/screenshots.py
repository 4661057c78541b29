"""python -m tests.browser.screenshots: the pictures of the README, remade from the app."""

from dataclasses import replace
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from tests.browser.server import DESKTOP, PHONE, ROOT, launch, painted, serve
from viz.screen import link
from viz.stories.reading import shipped_stories

IMAGES = ROOT / "docs" / "images"
SNAPSHOT = ROOT / "checkpoints" / "en-de-small" / "snapshots" / "000490.safetensors"


def on_stage(story: str, scene: int) -> str:
    """The address of a scene, shown for a wall."""
    return link(replace(shipped_stories()[story].screen_of(scene), role="stage")).removeprefix(".")


# name -> address, width, scheme, and what must be on the page before it is taken
PICTURES = {
    "explore": ("/", DESKTOP, "light", ".head-view[data-nonce]"),
    "explore-phone": ("/", PHONE, "light", ".head-view[data-nonce]"),
    "figure3": (
        "/?text=Didn%27t+you+hear+the+music%3F&kind=encoder_self&layer=2&head=7"
        "&heads=1,4,5,7&pins=q0&tokens=pieces",
        DESKTOP,
        "light",
        ".head-view[data-nonce]",
    ),
    "heatmap-dark": (
        "/?kind=encoder_self&layer=2&head=3&picture=map&path=yes",
        DESKTOP,
        "dark",
        ".head-map[data-nonce]",
    ),
    "inside": ("/?picture=inside&cell=1,1", DESKTOP, "light", ".cell-steps[data-nonce]"),
    "experiment": (
        "/?edits=head-off:cross.1.7/head-off:cross.2.2&tool=heads",
        DESKTOP,
        "light",
        ".text-lines",
    ),
    "sweep": (
        "/sweep?sweep_asked=yes",
        DESKTOP,
        "light",
        "body:not(:has([class*=st-key-far])) .data.rows",
    ),
    "patch": (
        "/sweep?experiment=patch&text=I+see+the+dog+in+the+garden."
        "&patch_from=I+see+the+cat+in+the+garden.",
        DESKTOP,
        "dark",
        ".data.map",
    ),
    "metrics": (
        "/?kind=encoder_self&show=previous&sort=previous&top=10&layer=0&head=4",
        DESKTOP,
        "light",
        ".head-view[data-nonce]",
    ),
    "compare": (
        "/compare?text=She+lives+in+a+small+house.&kind=encoder_self&layer=2"
        "&head=2&kind_b=encoder_self&layer_b=2&head_b=6",
        DESKTOP,
        "light",
        ".js-plotly-plot .main-svg",
    ),
    "gallery": ("/gallery", DESKTOP, "light", ".cards img, .cards svg"),
    "decode": ("/decode?step=5", DESKTOP, "light", ".decode-player[data-nonce]"),
    "training": (
        "/training?checkpoint=en-de-small&topic=heads&snapshot=929",
        DESKTOP,
        "light",
        ".snapshot-player[data-nonce]",
    ),
    "two-checkpoints": (
        "/compare?checkpoint=en-de-small&picture=map&checkpoint_b={snapshot}",
        {"width": 1440, "height": 1300},
        "dark",
        ".js-plotly-plot .main-svg",
    ),
    "positions": ("/positions", DESKTOP, "light", ".js-plotly-plot .main-svg"),
    "lab": (
        "/positions?view=lab&edits=positions-shift:source%3D3",
        {"width": 1440, "height": 1300},
        "light",
        ".js-plotly-plot .main-svg",
    ),
    "compare-edits": (
        "/compare?edits=head-off:cross.1.7/head-off:cross.2.2&edited_b=yes&picture=map"
        "&kind=cross&layer=2&head=3&same_head=yes",
        DESKTOP,
        "dark",
        ".js-plotly-plot .main-svg",
    ),
    "stage": (
        on_stage("attention-is-all-you-need", 3),
        {"width": 1920, "height": 1080},
        "light",
        ".head-map[data-nonce], .head-view[data-nonce]",
    ),
    "lesson": ("/lessons?story=attention-by-hand", DESKTOP, "light", "h3"),
}


def take(browser: Browser, address: str, name: str) -> Path:
    """One picture of PICTURES as docs/images/NAME.webp, without loss: half of a PNG."""
    path, size, scheme, selector = PICTURES[name]
    context = browser.new_context(viewport=size, color_scheme=scheme)
    page = context.new_page()
    page.goto(address + path.format(snapshot=SNAPSHOT))
    page.wait_for_selector(selector, timeout=60_000)
    painted(page)
    page.wait_for_timeout(2500)  # Plotly and Streamlit fade in, pictures of cards follow
    file = IMAGES / f"{name}.webp"
    image = Image.open(BytesIO(page.screenshot())).convert("RGB")
    image.save(file, lossless=True, method=6)
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
