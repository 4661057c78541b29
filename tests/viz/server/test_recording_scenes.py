"""What a scene shows is recorded, whatever page it is of."""

import json
import re
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from transformer import load_checkpoint
from transformer.discover import discover
from viz.components.kit.browser import unpack
from viz.live.models import models_of
from viz.notebook.story_page import story_page
from viz.screen import parse
from viz.server import recording_scenes
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


LIVE = {  # the reason why nobody types there
    "/explore?checkpoint=copy&text=3+8+4&edits=head-off:cross.0.1": "",
    "/decode?checkpoint=copy&text=3+8+4&decoding=beam": "",
    "/explore?checkpoint=copy&text=3+8+4&lens=value_norm": "value-weighted norm",
    "/explore?checkpoint=copy&text=3+8+4&edits=head-scale:cross.0.1=0.5": "head-scale",
    "/explore?checkpoint=copy&text=3+8+4&decoding=beam&force=8.4": "must be written",
    "/explore?checkpoint=everyday&text=She+told&decoding=sample": "Sampling",
    "/compare?checkpoint=copy&text=3+8+4": "two pictures",
    "/masks?checkpoint=copy&text=3+8+4": "no picture",
}


@pytest.mark.parametrize("said", LIVE)
def test_a_live_scene_knows_what_an_engine_is_asked_or_why_it_is_not(said: str) -> None:
    saved = saved_scene(replace(scene_of(said), live=True))
    assert saved is not None
    assert (saved.typed is None) == bool(LIVE[said]) and LIVE[said] in saved.why_recorded
    if saved.typed is not None:
        screen = scene_of(said).screen
        assert saved.typed.text == screen.text
        assert "/".join(saved.typed.edits) == "/".join(screen.edits)
        assert {each.component.name for each in saved.pictures} <= {"head_view", "search_tree"}


def test_one_model_answers_in_a_file_and_none_in_what_stands_in_for_a_server() -> None:
    said = next(iter(LIVE)), "/explore?checkpoint=en-de-small&text=It+rains.", [*LIVE][2]
    scenes = tuple(replace(scene_of(each), live=True) for each in said)
    story = Story("x", "A story", "talk", scenes=scenes)
    page = story_file(story).decode()
    assert page.count('id="file-copy-model"') == 1 and "file-en-de-small" not in page
    assert page.count("data-why=") == 2 and "only the weights of copy" in page
    assert "connect-src" not in page and "worker-src blob:" in page
    content = re.findall(r'id="content">(.*?)</script>', page, re.S)
    live = json.loads(content[0])["live"]
    assert [each and each["text"] for each in live] == ["3 8 4", None, None]
    written = list[Story]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recording_scenes, "story_file", lambda it: written.append(it) or b"")
        patch.setattr(recording_scenes, "story_of", lambda _: story)
        recording_scenes.recorded("x")
    assert [scene.live for scene in written[0].scenes] == [False] * 3
    saved = [*map(saved_scene, scenes)]
    files = models_of([load_checkpoint("copy")], one_file=False)[0]
    page = story_page(story, saved, models={"copy": files[0]}, base="../")
    assert "connect-src 'self'" in page and "file-copy-model" not in page
    assert '"base": "../"' in page and "weights/copy.model.0" in page
