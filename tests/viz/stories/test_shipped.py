"""Every shipped story: it reads back, its weights, words and links are there."""

import re
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.gallery.facts import cells_of, maps_of, seen, written
from tests.gallery.renewing import figures_of
from tests.representatives import cases
from transformer.words import words_of
from viz.page_fields import CompareFields
from viz.screen import FIRST_PAGE, choose, link, parse
from viz.stories.markdown import formula_faults
from viz.stories.reading import FOLDER, shipped_stories, stories_of, write_story
from viz.stories.story import Story

STORIES = shipped_stories()
ALL = [scene for story in STORIES.values() for scene in story.scenes]
SCENES = [
    (story, number) for story in STORIES.values() for number in range(1, len(story.scenes) + 1)
]
EACH_STORY = pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
FEW = {
    "pieces, and facts of several words": ("figures-of-the-paper", 1),
    "two heads on Compare": ("in-the-translator", 7),
    "rows that are read": ("in-the-translator", 2),
    "a question before a map": ("attention-is-all-you-need", 4),
    "a question at a step": ("attention-is-all-you-need", 8),
    "edits, and what is written with them": ("attention-is-all-you-need", 7),
    "a page without a text": ("attention-is-all-you-need", 9),
    "eight heads": ("worth-of-heads", 2),
    "a riddle": ("lost-words", 1),
    "en-de-1, a word that was decided": ("where-it-was-decided", 1),
    "copy": ("other-models", 1),
    "en-de-small": ("other-models", 3),
    "everyday": ("other-models", 4),
    "shakespeare": ("other-models", 5),
    "sentiment, which writes nothing": ("other-models", 6),
}
"""Each shipped model that a story is about, and each way in which a scene states a fact."""
EACH = pytest.mark.parametrize(
    ("story", "number"),
    cases(SCENES, {what: (STORIES[name], number) for what, (name, number) in FEW.items()}),
    ids=[f"{story.name} {number}" for story, number in SCENES],
)


@EACH_STORY
def test_a_file_is_as_it_would_be_written(story: Story) -> None:
    assert (FOLDER / f"{story.name}.md").read_text("utf-8") == write_story(story)


@EACH
def test_its_weights_are_there_between_the_words_it_names(story: Story, number: int) -> None:
    scene = story.scenes[number - 1]
    assert scene.facts or story.kind != "gallery"
    for fact in scene.facts:
        found = seen(maps_of(scene), fact)
        assert (found.row, found.column) == (fact.row, fact.column)
        assert found.holds(fact), f"{found.weight}: python -m tests.gallery --renew"


@EACH
def test_the_model_writes_what_it_says(story: Story, number: int) -> None:
    scene = story.scenes[number - 1]
    assert not scene.writes or written(scene) == scene.writes


@EACH_STORY
def test_its_text_names_the_words_it_points_at_and_a_weight(story: Story) -> None:
    for scene in story.scenes:
        for first in scene.facts[:1]:
            pinned = [fact for fact in scene.facts if f"q{fact.query}" in scene.screen.pins]
            words = {first.row, *(fact.row for fact in pinned)}
            if scene.question is None:
                words.add(first.column)
            else:  # nobody can read the answer before it is given
                assert first.column not in scene.text + scene.question.words
            assert {word for word in words if f"‘{word}’" not in scene.text} == set()
            assert story.kind != "gallery" or re.search(r"\d\.\d\d", scene.text)
            assert scene.text.endswith((".", "?"))


@EACH
def test_the_figures_of_its_text_are_the_weights(story: Story, number: int) -> None:
    scene = story.scenes[number - 1]
    for fact, figure in figures_of(scene).items():
        assert figure[0] == f"{seen(maps_of(scene), fact).weight:.2f}"


@EACH
def test_its_screen_shows_the_heads_of_its_facts(story: Story, number: int) -> None:
    screen, facts = story.scenes[number - 1].screen, story.scenes[number - 1].facts
    if not facts:
        return
    other = screen.of(CompareFields)
    overlaid = set(screen.heads or (screen.head,)) | {other.head_b} - {None}
    assert {fact.head for fact in facts} == overlaid
    assert {fact.layer for fact in facts} == {screen.layer, other.layer_b} - {None}
    assert {fact.kind for fact in facts} == {screen.kind or "cross", other.kind_b} - {None}
    assert set(screen.pins) <= {f"q{fact.query}" for fact in facts}
    cells = {cell for fact in facts for cell in cells_of(maps_of(story.scenes[number - 1]), fact)}
    assert screen.cell in {None, *cells}
    assert screen.step in {0, *(query for query, _ in cells)}


@EACH_STORY
def test_its_links_read_back_and_name_their_scenes(story: Story) -> None:
    for number, scene in enumerate(story.scenes, 1):
        told = story.screen_of(number)
        assert told == replace(scene.screen, story=story.name, scene=number)
        address = urlsplit(link(told))
        page = "" if told.page == FIRST_PAGE else told.page
        assert (address.scheme, address.netloc, address.path) == ("", "", f"./{page}")
        said = {name: value for name, (value,) in parse_qs(address.query).items()}
        assert parse(said | {"page": told.page}) == told
        assert "+" not in address.query  # a space is %20 for every reader


def test_words_are_shown_unless_a_piece_is_what_a_scene_is_about() -> None:
    of_pieces = {scene.heading for scene in ALL if scene.screen.tokens == "pieces"}
    assert of_pieces == {
        "Figure 3: four heads, one distant verb",  # ‘Did’ of ‘Didn't’
        "Where ‘nicht’ comes from",  # ‘t’ of ‘don't’
        "‘nicht’ in two layers",
        "A weak one: the word that judges",  # ‘witt’ and ‘y’
    }
    for scene in (scene for scene in ALL if scene.screen.tokens == "pieces"):
        words = {
            word
            for map in maps_of(scene).values()
            for tokens in (map.attention.queries, map.attention.keys)
            for word in words_of(tokens)
        }
        assert {name for fact in scene.facts for name in (fact.row, fact.column)} - words


def test_what_shows_in_a_whole_matrix_is_a_heat_map() -> None:
    maps = {scene.heading for scene in ALL if scene.screen.picture == "map"}
    assert maps >= {
        "A word and its translation",
        "The same rows, named by what was read",
        "‘nicht’ in two layers",
        "Copying is a diagonal",
        "What was just read",
        "The small translator aligns too",
        "A weak one: the word that judges",
    }


def test_no_two_scenes_of_the_gallery_are_one() -> None:
    gallery = [scene for story in stories_of("gallery") for scene in story.scenes]
    assert len({scene.heading for scene in gallery}) == len(gallery) > 20
    assert len({link(scene.screen) for scene in gallery}) == len(gallery)


def test_whoever_changes_something_stays_in_the_scene() -> None:
    told = next(iter(STORIES.values())).screen_of(2)
    for changes in ({"head": 1}, {"text": "It rains."}, {"page": "decode"}, {"checkpoint": "copy"}):
        changed = choose(told, **changes)
        assert (changed.story, changed.scene) == (told.story, 2)
    assert choose(told, story=None).scene == 1
    assert choose(replace(told, role="stage", room="x"), story=None).role is None


@EACH_STORY
def test_its_formulas_are_drawn(story: Story) -> None:
    texts = (story.introduction, *(scene.text + "\n\n" + scene.notes for scene in story.scenes))
    assert [fault for text in texts for fault in formula_faults(text)] == []


@pytest.mark.parametrize("story", stories_of("lesson"), ids=lambda story: story.name)
def test_a_lesson_ends_with_a_sentence_of_ones_own_and_what_was_learned(story: Story) -> None:
    *before, last = [scene.exercise for scene in story.scenes]
    assert last.own and last.tasks and not any(each.own for each in before)
    assert story.learned.endswith(".")
