"""A lesson is short: nobody who takes its tasks is kept for longer than seven minutes."""

import pytest

from viz.stories.reading import stories_of
from viz.stories.story import Story

MINUTES = 7
"""One of them for the last task, on a sentence of the learner's own."""
WORDS = 238
"""A minute of silent reading of English non-fiction: Brysbaert 2019, doi 10.1016/j.jml.2019.104047,
a mean over 190 studies."""
TASK = 0.75
"""Minutes of a task: question and explanation of 30 words each, and half a minute to answer."""


@pytest.mark.parametrize("lesson", stories_of("lesson"), ids=lambda lesson: lesson.name)
def test_a_lesson_takes_seven_minutes_at_most(lesson: Story) -> None:
    texts = [lesson.title, lesson.introduction]
    for scene in lesson.scenes:
        texts += [scene.heading, scene.text, scene.exercise.riddle.solution]
    n_words = sum(len(text.split()) for text in texts)
    n_tasks = sum(len(scene.exercise.tasks) for scene in lesson.scenes)
    assert n_tasks > 0
    assert n_words / WORDS + n_tasks * TASK <= MINUTES
