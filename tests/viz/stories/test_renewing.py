"""Facts that other weights have made wrong are found, and written anew where that can be done."""

import re
from dataclasses import replace

import pytest

from tests.gallery.facts import maps_of, seen
from tests.gallery.renewing import figures_of, renewed, renewed_story
from viz.stories.reading import stories_of
from viz.stories.story import Scene

STORY = next(each for each in stories_of("gallery") if each.name == "other-models")
COPIES, LETTER = STORY.scenes[0], STORY.scenes[4]
"""Of checkpoints that are small, and that nothing is planned for."""


def stale(scene: Scene, least: float) -> Scene:
    """The scene as weights that are less would have made it."""
    fact = scene.facts[0]
    figure = figures_of(scene)[fact]
    text = f"{scene.text[: figure.start()]}{least + 0.02:.2f}{scene.text[figure.end() :]}"
    return replace(scene, facts=(replace(fact, least=least), *scene.facts[1:]), text=text)


def test_what_holds_stays() -> None:
    assert renewed_story(STORY) == (STORY, [])


def test_a_weight_that_is_another_is_written_into_fact_and_text() -> None:
    found = renewed(stale(LETTER, 0.4))
    fact = found.scene.facts[0]
    weight = seen(maps_of(LETTER), fact).weight
    assert found.is_whole and found.said[0].endswith(f"is {weight:.2f} now")
    assert seen(maps_of(LETTER), fact).holds(fact)
    assert fact.least == pytest.approx(weight - 0.02, abs=0.0051)
    assert f"{weight:.2f}" in found.scene.text and "0.42" not in found.scene.text
    means = re.findall(r"\(.*\)", LETTER.text)
    assert means and re.findall(r"\(.*\)", found.scene.text) == means  # nobody measured these


def test_words_that_stand_elsewhere_are_found_there_with_their_pin() -> None:
    fact = LETTER.facts[0]
    shifted = replace(fact, query=fact.query + 1, key=fact.key + 1)
    screen = replace(LETTER.screen, pins=(f"q{shifted.query}",))
    found = renewed(replace(LETTER, facts=(shifted,), screen=screen))
    assert found.is_whole and f"at {fact.query}.{fact.key}" in found.said[0]
    assert found.scene.facts[0].query == fact.query
    assert found.scene.screen.pins == LETTER.screen.pins


def test_words_that_are_gone_are_said_and_nothing_is_changed() -> None:
    gone = replace(COPIES, facts=(replace(COPIES.facts[0], row="12"),))
    found = renewed(gone)
    assert (found.scene, found.is_whole) == (gone, False)
    assert "is gone: ‘11’ gives ‘11’" in found.said[0] and "L0 H1" in found.said[0]
    far = replace(COPIES, facts=(replace(COPIES.facts[0], row="12", query=400),))
    assert "there are" in renewed(far).said[0]
