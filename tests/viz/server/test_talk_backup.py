"""The recording of a talk, as a browser asks for it."""

import asyncio

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from viz.server import recording_scenes
from viz.server import serving as talk_backup
from viz.stories.reading import stories_of
from viz.stories.story import Story
from viz.talks.story import recording_of
from viz.talks.story_drafts import DRAFTS, PREFIX

TALK = stories_of("talk")[0]


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> TestClient:
    def written(story: Story) -> bytes:
        if story.title == "Broken":
            raise ValueError("a fault")
        return story.title.encode()

    monkeypatch.setattr(recording_scenes, "story_file", written)
    monkeypatch.setattr(recording_scenes, "versions_of", lambda story: (id(client),))
    return TestClient(Starlette(routes=[talk_backup.recorded_route(recording_scenes.recorded)]))


def test_a_story_is_recorded_and_none_that_is_not_there(client: TestClient) -> None:
    found = client.get(recording_of(TALK.name).removeprefix("."))
    assert (found.status_code, found.text) == (200, TALK.title)
    for name in ("nothing", "", "/etc/passwd", f"{PREFIX}gone"):
        answer = client.get(recording_of(name).removeprefix("."))
        assert (answer.status_code, answer.content) == (talk_backup.NONE, b"")


def test_a_public_server_records_its_own_stories_only(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = Story("x", "Mine", "talk", scenes=TALK.scenes[:1])
    monkeypatch.setattr(DRAFTS, "read", lambda code: draft)
    for public, status in (("no", 200), ("yes", talk_backup.NONE)):
        monkeypatch.setenv("HEADSCOPE_PUBLIC", public)
        assert client.get(f"/recorded?story={PREFIX}x").status_code == status
    assert client.get(f"/recorded?story={TALK.name}").status_code == 200


def test_what_fails_is_no_recording_and_is_tried_again(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = Story("x", "Broken", "talk", scenes=TALK.scenes[:1])
    monkeypatch.setattr(DRAFTS, "read", lambda code: draft)
    assert client.get(f"/recorded?story={PREFIX}x").status_code == talk_backup.NONE
    assert not talk_backup._making


def test_many_who_ask_at_once_are_given_one_recording() -> None:
    begun: list[str] = []

    def record(name: str) -> bytes:
        begun.append(name)
        return b"all"

    async def ask() -> None:
        with talk_backup._alone:  # nothing is made until all have asked
            waiting = [
                talk_backup._making.get("x") or talk_backup._begin("x", record) for _ in range(20)
            ]
        assert {await asyncio.wrap_future(each) for each in waiting} == {b"all"}

    asyncio.run(ask())
    assert begun == ["x"]
