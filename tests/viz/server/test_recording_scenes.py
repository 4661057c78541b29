"""What a scene shows is recorded, whatever page it is of."""

import re
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from transformer.discover import discover
from viz.components.kit.browser import unpack
from viz.screen import parse
from viz.server.recording_scenes import saved_scene, story_file
from viz.state.page import PAGES
from viz.stories.story import Scene, Story
from viz.theme import LIGHT

SHOWN = {  # pictures, and images
    "/explore?checkpoint=copy&text=3+8+4&picture=inside": (1, 0),
    "/explore?checkpoint=copy&text=3+8+4&kind=cross&pins=q1&picture=why": (0, 1),
    "/decode?checkpoint=sentiment&text=A+good+film.": (0, 2),
    "/compare?checkpoint=copy&text=3+8+4": (2, 0),
    "/compare?checkpoint=copy&text=3+8+4&edits=head-off:cross.0.1&edited_b=yes": (2, 0),
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
    saved = saved_scene(scene_of(said))
    assert saved is not None
    assert (len(saved.pictures), len(saved.charts)) == SHOWN[said]


def components(query: str) -> list[str]:
    saved = saved_scene(scene_of(f"/{query}"))
    assert saved is not None
    return [each.component.name for each in saved.pictures]


def header_of(query: str, n: int = 0) -> dict[str, Any]:
    """What the component of the n-th picture is told beside its numbers."""
    saved = saved_scene(scene_of(f"/explore?checkpoint=copy&text=3+8+4&{query}"))
    assert saved is not None
    picture = saved.pictures[n]
    header: dict[str, Any] = unpack(picture.data(picture.payload, LIGHT))[0]
    return header


def test_each_page_gives_its_pictures() -> None:
    of = "checkpoint=copy&text=3+8+4"
    assert components(f"explore?{of}") == ["head_view"]
    assert components(f"explore?{of}&picture=map") == ["head_map"]
    assert components(f"explore?{of}&picture=inside&cell=2,1") == ["cell_steps"]
    assert components(f"compare?{of}") == ["head_view", "head_view"]
    assert components(f"compare?{of}&checkpoint_b=en-de-small") == ["head_view", "head_view"]
    assert components(f"inspect?{of}") == []


def test_the_head_beside_it_is_that_of_the_page() -> None:
    saved = saved_scene(scene_of("/compare?checkpoint=copy&text=3+8+4&layer=1&head=2"))
    assert saved is not None
    first, second = (each.says for each in saved.pictures)
    assert first.startswith("L1 H2") and not second.startswith("L1 H2")


def test_a_head_that_is_off_is_marked() -> None:
    place = "kind=cross&layer=1&head=0"
    edits = "edits=head-off:cross.0.1/head-off:cross.1.0/head-scale:cross.1.1%3D0.5"
    assert header_of(place)["off"] == []
    assert header_of(f"{place}&{edits}")["off"] == [0]
    map = f"{place}&picture=map"
    assert not header_of(map)["is_off"]
    assert header_of(f"{map}&{edits}")["is_off"]
    assert not header_of(f"{map}&edits=head-off:cross.0.1")["is_off"]


def test_pages_whose_answer_is_of_the_model_unchanged_are_saved_so() -> None:
    """Compare's A, and what Training, Masks and Inspect show, know nothing of edits."""
    edits = "edits=head-off:cross.1.0/head-off:encoder_self.0.0"
    place = f"checkpoint=copy&text=3+8+4&kind=cross&layer=1&head=0&{edits}"
    saved = saved_scene(scene_of(f"/compare?{place}&edited_b=yes&same_head=yes"))
    assert saved is not None and saved.outputs  # what B writes instead is still said
    first, second = (unpack(it.data(it.payload, LIGHT))[0] for it in saved.pictures)
    assert first["off"] == [] and second["off"] == [0]
    plain = "checkpoint=copy&text=3+8+4"
    for page in ("training", "masks"):
        changed, unchanged = (saved_scene(scene_of(f"/{page}?{it}")) for it in (place, plain))
        assert changed is not None and unchanged is not None
        assert changed.written == unchanged.written


def test_a_saved_picture_asks_no_server_and_keeps_the_chosen_cell() -> None:
    map = header_of("picture=map&kind=cross&layer=1&head=0&cell=1,2&tool=heads")
    assert not map["asks"] and map["cell"] == [1, 2]
    arrows = header_of("tool=arrows")
    assert (arrows["tool"], arrows["cuts"]) == ("look", "")


def test_no_sentence_stands_above_what_is_about_none() -> None:
    scenes = tuple(map(scene_of, ("/why_attention", "/masks?checkpoint=copy&text=3+8+4")))
    page = story_file(Story("x", "A story", "talk", scenes=scenes)).decode()
    first, second = re.findall(r"<section.*?</section>", page, re.S)
    assert 'class="sentence"' not in first and "3 8 4" in second
    assert "In Headscope only" not in first + second
    assert len(re.findall(r"<img ", first)) == 6  # three charts, light and dark
