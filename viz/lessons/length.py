"""The time that a lesson takes."""

import math

from viz.lessons.exercise import Exercise

WORDS, TASKS = 200, 1.5
"""Words that are read per minute; answers that are given per minute."""


def minutes(texts: list[str], exercises: list[Exercise]) -> int:
    """Whole minutes for texts and tasks together."""
    words = sum(len(text.split()) for text in texts)
    return max(1, math.ceil(words / WORDS + n_tasks(exercises) / TASKS))


def n_tasks(exercises: list[Exercise]) -> int:
    """The tasks of all scenes together."""
    return sum(len(exercise.tasks) for exercise in exercises)
