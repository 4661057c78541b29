"""Every shipped story: it reads back, its weights, words and links are there."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from transformer import Recording, decode, load_checkpoint, record
from transformer.checkpoint import Checkpoint
from transformer.edits import parse as parse_edit
from viz.screen import FIRST_PAGE, link, parse
from viz.stories.shipped import FOLDER, shipped_stories
from viz.stories.story import SPREAD, Scene, Story
from viz.stories.writing import write_story

STORIES = shipped_stories()
SCENES = [
    (story, number) for story in STORIES.values() for number in range(1, len(story.scenes) + 1)
]
EACH_STORY = pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
EACH = pytest.mark.parametrize(
    ("story", "number"), SCENES, ids=[f"{story.name} {number}" for story, number in SCENES]
)


@cache
def opened(name: str) -> Checkpoint:
    return load_checkpoint(Path("checkpoints") / name, "cpu")


@cache
def recorded(checkpoint: str, text: str, decoding: str | None, edits: tuple[str, ...]) -> Recording:
    model, changes = opened(checkpoint), tuple(map(parse_edit, edits))
    target = decode(model, text, decoding, edits=changes).target if decoding else None
    return record(model, text, target, edits=changes)


def recording_of(scene: Scene) -> Recording:
    screen = scene.screen
    assert screen.checkpoint is not None and screen.text is not None
    return recorded(screen.checkpoint, screen.text, screen.decoding, screen.edits)


@EACH_STORY
def test_a_file_is_as_it_would_be_written(story: Story) -> None:
    assert (FOLDER / f"{story.name}.md").read_text("utf-8") == write_story(story)


@EACH
def test_its_weights_are_there_between_the_words_it_names(story: Story, number: int) -> None:
    scene = story.scenes[number - 1]
    for fact in scene.facts:
        attention = recording_of(scene).attentions[fact.kind]
        rows = attention.produced if fact.kind == "cross" else attention.queries
        assert rows is not None
        assert rows[fact.query].piece.removeprefix("▁") == fact.row
        assert attention.keys[fact.key].piece.removeprefix("▁") == fact.column
        row = attention.weights(fact.layer, fact.head)[fact.query]
        assert fact.least <= float(row[fact.key]) < fact.least + SPREAD
        assert int(row.argmax()) == fact.key


@EACH
def test_its_text_names_the_words_of_its_first_fact(story: Story, number: int) -> None:
    scene = story.scenes[number - 1]
    words = {word for fact in scene.facts[:1] for word in (fact.row, fact.column)}
    assert {word for word in words if f"‘{word}’" not in scene.text} == set()


@EACH
def test_its_link_reads_back_and_names_its_scene(story: Story, number: int) -> None:
    told = story.told(number)
    assert told == replace(story.scenes[number - 1].screen, story=story.name, scene=number)
    address = urlsplit(link(told))
    page = "" if told.page == FIRST_PAGE else told.page
    assert (address.scheme, address.netloc, address.path) == ("", "", f"./{page}")
    said = {name: value for name, (value,) in parse_qs(address.query).items()}
    assert parse(said | {"page": told.page}) == told
