"""The other browser: the saved talk is the same there as in Chromium, and the app is drawn."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlretrieve

import pytest
from playwright.sync_api import Browser

from tests.browser.firefox import Firefox, launch_firefox
from tests.browser.hosted import hosted
from tests.browser.server import becomes
from transformer import decode, load_checkpoint
from viz.commands.site import page_words
from viz.live.site import build
from viz.stories.reading import shipped_stories
from viz.talks.story import recording_of

pytestmark = pytest.mark.browser
SENTENCES = (
    (Path(__file__).parents[1] / "viz" / "live" / "sentences.txt").read_text("utf-8").splitlines()
)
TALK = shipped_stories()["attention-is-all-you-need"]
WIDTH, HEIGHT = 1280, 720
PAGE_DOWN = "\ue00f"
MODULE = Path(__file__).with_name("drawn.js").read_text(encoding="utf-8")
DRAWN = MODULE.replace("export default function", "function")
SCENE = f"({DRAWN})([...document.querySelectorAll('main section')].find(each => each.offsetHeight))"
HEADING = "[...document.querySelectorAll('main h1')].find(each => each.offsetHeight)?.innerText"
SCROLLS = (
    "document.querySelector('main').scrollHeight > document.querySelector('main').clientHeight"
)
INK = 0.01
"""How much more of a canvas one browser may paint than another, as each smooths its lines."""


@pytest.fixture(scope="module")
def firefox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    try:
        with launch_firefox(tmp_path_factory.mktemp("firefox")) as opened:
            yield opened
    except FileNotFoundError as error:
        pytest.skip(str(error))


@pytest.mark.thorough
def test_the_saved_talk_is_given_in_firefox_as_in_chromium(
    browser: Browser, address: str, firefox: Firefox, tmp_path: Path
) -> None:
    file = tmp_path / "talk.html"
    urlretrieve(address + recording_of(TALK.name).removeprefix("."), file)
    size = {"width": WIDTH, "height": HEIGHT}
    page = browser.new_context(offline=True, viewport=size).new_page()
    page.goto(file.as_uri())
    firefox.goto(file.as_uri(), WIDTH, HEIGHT)
    for scene in TALK.scenes:
        for evaluate in (firefox.evaluate, page.evaluate):
            becomes(lambda evaluate=evaluate: evaluate(HEADING), scene.heading)
        if scene.question:  # its picture stands behind the answer
            firefox.press("r")
            page.keyboard.press("r")
        becomes(lambda: differences(firefox.evaluate(SCENE), page.evaluate(SCENE)), [])
        assert not firefox.evaluate(SCROLLS), scene.heading
        firefox.press(PAGE_DOWN)
        page.keyboard.press("PageDown")
    assert firefox.wrong == []
    assert [asked for asked in firefox.asked if not asked.startswith(("file:", "data:"))] == []
    page.context.close()


@pytest.mark.thorough
def test_the_app_is_drawn_in_firefox(address: str, firefox: Firefox) -> None:
    firefox.goto(address, WIDTH, HEIGHT)
    becomes(lambda: firefox.evaluate("document.querySelector('.stMain') !== null"), True)
    main = f"({DRAWN})(document.querySelector('.stMain'))"
    becomes(lambda: any(ink > INK for ink in firefox.evaluate(main)["inks"]), True)
    assert firefox.wrong == []


def differences(*seen: dict[str, Any]) -> list[str]:
    """What one of two browsers shows of a scene and the other does not, and what is not drawn."""
    firefox, chromium = seen
    found = [name for name in ("words", "shapes", "images") if firefox[name] != chromium[name]]
    if len(firefox["inks"]) != len(chromium["inks"]):
        return [*found, "canvases"]
    inks = zip(firefox["inks"], chromium["inks"], strict=True)
    found += [
        f"painted {one:.3f}, not {other:.3f}" for one, other in inks if abs(one - other) > INK
    ]
    if not firefox["shapes"] + sum(firefox["inks"]) + sum(firefox["images"]):
        found.append("nothing is drawn")
    return found + [f"image {at}" for at, width in enumerate(firefox["images"]) if not width]


IN_PAGE = ("blob:", "data:")
"""Addresses of what a page holds: nobody is asked."""


@pytest.mark.thorough
def test_the_page_without_a_server_answers_as_python_does(firefox: Firefox, tmp_path: Path) -> None:
    checkpoint = load_checkpoint("en-de-small")
    build([checkpoint], tmp_path, page_words())
    with hosted(tmp_path) as address:
        firefox.goto(address, WIDTH, HEIGHT)
        for text in SENTENCES[:10]:
            said = firefox.evaluate(f"headscope.answer({text!r})")["target_ids"]
            decoding = decode(checkpoint, text, method="beam")
            assert said == [token.id for token in decoding.target], text
    assert [each for each in firefox.wrong if "WebSocket" not in each] == []  # of a page before
    assert not [each for each in firefox.asked if not each.startswith((address, *IN_PAGE))]
