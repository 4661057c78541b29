"""What a lesson opens shows the tokens that its tasks count, not the words that they make."""

import pytest

from transformer.analysis.reading import Reading, read
from viz.lessons.exercise import read_task
from viz.pages.lessons.lesson import opened_by, place_in
from viz.run.request import make_answer
from viz.screen import Screen
from viz.state.requests import request_of
from viz.stories.reading import shipped_stories

TEXT = "The knights vanquished the terrifying dragon."
SCENES = [
    (name, number)
    for name, story in shipped_stories().items()
    for number, scene in enumerate(story.scenes)
    if any(read_task(task)[0].of_tokens for task in scene.exercise.tasks)
]


@pytest.mark.parametrize(("name", "number"), SCENES)
def test_a_scene_that_counts_tokens_opens_a_map_of_tokens(name: str, number: int) -> None:
    scene = shipped_stories()[name].scenes[number]
    answer = make_answer(request_of("en-de", TEXT, Screen(decoding="greedy")))
    recording = answer.recording
    place = place_in(answer, scene.exercise.head, scene.exercise.row)
    assert place is not None
    opened = opened_by(scene, answer, place)
    shown = read(recording, place.kind, Reading(words=opened.tokens != "pieces"))
    attention = recording.attentions[place.kind]
    assert (len(shown.rows), len(shown.columns)) == (len(attention.queries), len(attention.keys))
    assert opened.pins in ((), (f"q{place.query}",))
