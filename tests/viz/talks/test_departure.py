"""The words of a scene say what they are about where that is no longer what is shown."""

from dataclasses import replace

import pytest

from viz.screen import Screen
from viz.state.requests import first_example
from viz.stories.story import Scene
from viz.talks.story import departure

THERE = Screen(checkpoint="en-de-1", text="It rains.")
SCENE = Scene("Rain", "It is written.", THERE, writes="Es regnet.")


def test_words_that_state_nothing_of_the_sentence_are_about_any() -> None:
    plain, other = replace(SCENE, writes=""), replace(THERE, text="It snows.")
    assert departure(SCENE, other, THERE) and departure(plain, other, THERE) == ""


@pytest.mark.parametrize(
    "choices", [{"layer": 1}, {"page": "decode"}, {"pins": ("q1",)}, {"role": "stage"}]
)
def test_another_look_at_the_same_sentence_is_no_departure(choices: dict[str, object]) -> None:
    assert departure(SCENE, replace(THERE, **choices), THERE) == ""  # type: ignore[arg-type]


def test_another_sentence_or_model_names_that_of_the_scene() -> None:
    assert "“It rains.”" in departure(SCENE, replace(THERE, text="It snows."), THERE)
    assert "en-de-1" in departure(SCENE, replace(THERE, checkpoint="copy", text="1 2"), THERE)
    pair = replace(THERE, pair="It pours.")
    assert "“It rains.” and “It pours.”" in departure(SCENE, THERE, pair)


def test_a_scene_without_a_sentence_has_the_first_one() -> None:
    first = first_example("en-de-1")
    there = Screen(checkpoint="en-de-1")
    assert departure(SCENE, replace(there, text=first), there) == ""
    assert f"“{first}”" in departure(SCENE, THERE, there)
