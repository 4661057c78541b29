"""Scenes in small: a picture for each that has one, for whoever puts the story together."""

import asyncio
from dataclasses import replace
from threading import Event
from typing import Any
from xml.etree import ElementTree

import pytest
from starlette.types import Message

from tests.viz.server.test_recording_scenes import pages, scene_of
from viz.run.cache import CACHE
from viz.run.models.place import Here, Outcome, Task
from viz.run.request import answer
from viz.server.recording_scenes import request_of_scene, saved_scene
from viz.server.scene_picture import thumbnail, thumbnails_route
from viz.stories.story import Scene, Story
from viz.talks.story import key_of, thumbnail_address
from viz.talks.story_drafts import DRAFTS
from viz.theme import LIGHT

__all__ = ["pages"]
SCENES = [
    "/explore?checkpoint=copy&text=3+8+4&kind=cross&layer=1",
    "/explore?checkpoint=copy&text=3+8+4&picture=map",
    "/decode?checkpoint=copy&text=3+8+4&step=1",
    "/compare?checkpoint=copy&text=3+8+4",
]
LARGEST = 60_000
"""Bytes: a dozen of them are looked at together."""


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADSCOPE_STORIES", "no")
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "no")


def begun(*scenes: Scene) -> str:
    return DRAFTS.begin(Story("", "Mine", "talk", None, "", scenes), "a browser")


def test_each_scene_has_another_picture_with_bars_for_words() -> None:
    scenes = [scene_of(said) for said in SCENES]
    code = begun(*scenes)
    pictures = [thumbnail(code, key_of(each.screen), "light") for each in scenes]
    assert len(set(pictures)) == len(SCENES)
    for picture in pictures:
        assert picture is not None and len(picture) < LARGEST
        tags = [each.tag.rpartition("}")[2] for each in ElementTree.fromstring(picture).iter()]
        assert "text" not in tags and {"rect", "path", "line"} & set(tags)
    assert thumbnail(code, key_of(scenes[0].screen), "dark") not in pictures


def test_scenes_of_short_words_and_of_other_heads_can_be_told_apart() -> None:
    """Digits have bars of one length, and heads that copy draw the same lines."""
    start = "/explore?checkpoint=copy&kind=cross&layer=1&head=0"
    texts = [scene_of(f"{start}&text={text}") for text in ("3+8+4", "5+6+9", "5+6+9&head=1")]
    code = begun(*texts)
    files = [thumbnail(code, key_of(each.screen), "light") or b"" for each in texts]
    nodes = [list(ElementTree.fromstring(each).iter()) for each in files]
    bars = [{node.get("fill") for node in each} & set(LIGHT.head_colours) for each in nodes]
    assert all(bars) and bars[0] != bars[1] == bars[2]
    chosen = [[n.get("x") for n in each if n.get("fill") == LIGHT.accent] for each in nodes]
    assert chosen[0] == chosen[1] != chosen[2]


def test_pages_without_a_picture_and_unknown_scenes_have_none() -> None:
    inspected = scene_of("/inspect?checkpoint=copy")
    code = begun(inspected)
    assert thumbnail(code, key_of(inspected.screen), "light") is None
    assert thumbnail(code, "0" * 16, "light") is None
    assert thumbnail("no such code", key_of(inspected.screen), "light") is None
    gone = replace(inspected.screen, page="explore", checkpoint="/nowhere/at/all")
    assert thumbnail(begun(Scene("", "", gone)), key_of(gone), "light") is None


def test_no_model_runs_for_strangers(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = scene_of("/explore?checkpoint=copy&text=4+9+4+5&picture=map")
    code = begun(scene)
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "yes")
    assert thumbnail(code, key_of(scene.screen), "light") is None
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "no")
    at_home = thumbnail(code, key_of(scene.screen), "light")
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "yes")  # who shows it has its answer already
    assert thumbnail(code, key_of(scene.screen), "light") == at_home is not None


@pytest.mark.parametrize("more", ["", "&edited_b=yes"])
def test_no_second_model_runs_for_strangers(more: str, monkeypatch: pytest.MonkeyPatch) -> None:
    CACHE.clear()
    scene = scene_of(f"/compare?checkpoint=copy&text=5+6+9&edits=head-off:cross.0.1{more}")
    code = begun(scene)
    answer(request_of_scene(scene.screen))  # that of the changed model, as on Explore
    texts, run = [], Here.run

    def ran(here: Here, task: Task, *others: Any) -> Outcome:
        texts.append(task.text)
        return run(here, task, *others)

    monkeypatch.setattr(Here, "run", ran)
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "yes")
    assert thumbnail(code, key_of(scene.screen), "light") is None and not texts
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "no")
    assert saved_scene(scene) is not None and texts  # its page asks for what was missing
    monkeypatch.setenv("HEADSCOPE_PUBLIC", "yes")
    assert thumbnail(code, key_of(scene.screen), "light") is not None


def test_the_address_is_of_what_is_shown() -> None:
    one, other = (scene_of(said).screen for said in SCENES[:2])
    assert thumbnail_address("code", one, "light") != thumbnail_address("code", other, "light")
    assert key_of(one) in thumbnail_address("code", one, "light")


def test_who_waits_for_a_picture_holds_no_thread() -> None:
    """Files of the page are read in the same threads."""
    go_on, drawn = Event(), list[str]()

    def draw(code: str, key: str, theme: str) -> bytes:
        drawn.append(key)
        go_on.wait(20)
        return b"<svg/>"

    route, statuses = thumbnails_route(draw), list[int]()

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        statuses.extend(filter(None, [message.get("status")]))

    async def ask() -> None:
        scope = {"type": "http", "method": "GET", "path": "/thumbnail", "headers": []}
        await route.handle({**scope, "query_string": b"draft=x&of=y"}, receive, send)

    async def crowd() -> None:
        waits = [asyncio.create_task(ask()) for _ in range(40)]  # more than there are threads
        while not drawn:
            await asyncio.sleep(0.01)
        try:
            await asyncio.wait_for(asyncio.to_thread(int), 10)
            assert len(drawn) == 1
        finally:
            go_on.set()
        await asyncio.gather(*waits)

    asyncio.run(crowd())
    assert statuses == [200] * 40
