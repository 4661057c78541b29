"""What a scene shows is recorded, whatever page it is of."""

import re
from urllib.parse import parse_qsl, urlsplit

import pytest

from transformer.discover import discover
from viz.notebook.scenes import drawn
from viz.screen import parse
from viz.server.recording_scenes import made, story_file
from viz.state.page import PAGES
from viz.stories.story import Scene, Story

SHOWN = {  # pictures, and images
    "/explore?checkpoint=copy&text=3+8+4&picture=inside": (1, 0),
    "/decode?checkpoint=sentiment&text=A+good+film.": (0, 2),
    "/compare?checkpoint=copy&text=3+8+4": (2, 0),
    "/compare?checkpoint=copy&text=3+8+4&edits=head-off:cross.0.1&edited_b=yes": (0, 2),
    "/positions?checkpoint=copy&text=3+8+4&view=encoding_curves": (0, 1),
    "/positions?checkpoint=copy&text=3+8+4&view=lab": (0, 2),
    "/masks?checkpoint=copy&text=3+8+4": (0, 2),
    "/training?checkpoint=copy&text=3+8+4": (1, 0),
    "/training?checkpoint=copy&text=3+8+4&topic=rate": (0, 1),
    "/training?checkpoint=copy&text=3+8+4&topic=smoothing": (0, 2),
    "/inspect?checkpoint=copy&inspect=tensor": (0, 3),
    "/inspect?checkpoint=copy": (0, 0),
    "/why_attention": (0, 3),
}


def scene_of(said: str) -> Scene:
    address = urlsplit(said)
    screen = parse({"page": address.path[1:], **dict(parse_qsl(address.query))})
    return Scene("Heading", "Words.", screen)


@pytest.fixture(autouse=True)
def pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the app knows them, once it is open."""
    for name, page in discover("viz.pages", "PAGE").items():
        monkeypatch.setitem(PAGES, name, page)


@pytest.mark.parametrize("said", SHOWN)
def test_each_page_is_recorded_as_it_is_shown(said: str) -> None:
    found = made(scene_of(said))
    assert found is not None
    pictures, images = SHOWN[said]
    assert len(drawn(found)) == pictures
    assert pictures or len(found.charts) == images


def test_the_head_beside_it_is_that_of_the_page() -> None:
    found = made(scene_of("/compare?checkpoint=copy&text=3+8+4&layer=1&head=2"))
    assert found is not None and found.second != found.selection


def test_no_sentence_stands_above_what_is_about_none() -> None:
    scenes = tuple(map(scene_of, ("/why_attention", "/masks?checkpoint=copy&text=3+8+4")))
    page = story_file(Story("x", "A story", "talk", scenes=scenes)).decode()
    first, second = re.findall(r"<section.*?</section>", page, re.S)
    assert 'class="sentence"' not in first and "3 8 4" in second
    assert "In Headscope only" not in first + second
    assert len(re.findall(r"<img ", first)) == 6  # three charts, light and dark
