"""Every composition of the gallery is there: its words, its weights, its link."""

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from transformer import Recording, decode, load_checkpoint, record
from transformer.checkpoint import Checkpoint
from viz.gallery import COMPOSITIONS, GROUPS, Composition, neighbours, story
from viz.screen import FIRST_PAGE, choose, link, parse

EACH = pytest.mark.parametrize("composition", COMPOSITIONS, ids=lambda each: each.title)


@cache
def opened(name: str) -> Checkpoint:
    return load_checkpoint(Path("checkpoints") / name, "cpu")


@cache
def recorded(checkpoint: str, text: str, decoding: str | None) -> Recording:
    model = opened(checkpoint)
    target = decode(model, text, decoding).target if decoding else None
    return record(model, text, target)


def recording_of(composition: Composition) -> Recording:
    screen = composition.screen
    return recorded(screen.checkpoint, screen.text, screen.decoding)


@EACH
def test_its_weights_are_there_between_the_words_it_names(composition: Composition) -> None:
    recording = recording_of(composition)
    assert composition.facts
    for fact in composition.facts:
        attention = recording.attentions[fact.kind]
        rows = attention.produced if fact.kind == "cross" else attention.queries
        assert rows is not None
        assert rows[fact.query].piece.removeprefix("▁") == fact.row
        assert attention.keys[fact.key].piece.removeprefix("▁") == fact.column
        row = attention.weights(fact.layer, fact.head)[fact.query]
        assert fact.least <= float(row[fact.key]) < fact.least + 0.06
        assert int(row.argmax()) == fact.key


@EACH
def test_its_sentence_names_the_words_it_points_at(composition: Composition) -> None:
    first, *more = composition.facts
    pinned = composition.screen.pins
    words = {first.row, first.column, *(f.row for f in more if f"q{f.query}" in pinned)}
    assert {word for word in words if f"‘{word}’" not in composition.sentence} == set()
    assert re.search(r"\d\.\d\d", composition.sentence)
    assert composition.sentence.endswith(".")


@EACH
def test_its_screen_shows_the_heads_of_its_facts(composition: Composition) -> None:
    screen, facts = composition.screen, composition.facts
    overlaid = set(screen.heads or (screen.head,)) | {screen.head_b} - {None}
    assert {fact.head for fact in facts} == overlaid
    assert {fact.layer for fact in facts} == {screen.layer, screen.layer_b} - {None}
    assert {fact.kind for fact in facts} == {screen.kind or "cross", screen.kind_b} - {None}
    assert set(screen.pins) <= {f"q{fact.query}" for fact in facts}
    assert screen.cell is None or screen.cell in {(fact.query, fact.key) for fact in facts}
    assert screen.step in {0, *(fact.query for fact in facts)}


@EACH
def test_its_link_reads_back_as_its_screen_and_names_its_story(composition: Composition) -> None:
    screen = composition.told
    assert screen == replace(composition.screen, story=composition.name)
    assert story(screen.story) is composition
    address = urlsplit(link(screen))
    page = "" if screen.page == FIRST_PAGE else screen.page
    assert (address.scheme, address.netloc, address.path) == ("", "", f"./{page}")
    said = {name: value for name, (value,) in parse_qs(address.query).items()}
    assert parse(said | {"page": screen.page}) == screen
    assert "+" not in address.query  # a space is %20 for every reader


def test_what_shows_in_a_whole_matrix_is_a_heat_map() -> None:
    maps = {each.title for each in COMPOSITIONS if each.screen.picture == "map"}
    assert maps >= {
        "A word and its translation",
        "The same rows, named by what was read",
        "‘nicht’ in two layers",
        "Copying is a diagonal",
        "What was just read",
        "The small translator aligns too",
        "A weak one: the word that judges",
    }


def test_stories_follow_each_other_from_the_first_to_the_last() -> None:
    told, following = [], COMPOSITIONS[0]
    assert neighbours(following)[0] is None
    while following is not None:
        told.append(following)
        before, following = neighbours(told[-1])
        assert before is (told[-2] if len(told) > 1 else None)
    assert tuple(told) == COMPOSITIONS
    assert story(None) is None and story("no-such-story") is None


def test_whoever_changes_something_stays_in_the_story() -> None:
    told = COMPOSITIONS[0].told
    for changes in ({"head": 1}, {"text": "It rains."}, {"page": "decode"}, {"checkpoint": "copy"}):
        assert choose(told, **changes).story == told.story
    assert choose(told, story=None) == COMPOSITIONS[0].screen


def test_no_two_are_one() -> None:
    assert len({each.name for each in COMPOSITIONS}) == len(COMPOSITIONS)
    assert len({each.title for each in COMPOSITIONS}) == len(COMPOSITIONS)
    assert len({link(each.screen) for each in COMPOSITIONS}) == len(COMPOSITIONS)
    assert sum(map(len, GROUPS.values())) == len(COMPOSITIONS)
