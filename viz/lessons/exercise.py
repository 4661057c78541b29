"""The fields of a scene that make it one of a lesson: what it needs, means, shows and asks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from viz.lessons.kinds import read_task
from viz.lessons.needs import NEEDS
from viz.lessons.place import check_row, read_head
from viz.lessons.riddle import NO_RIDDLE, Riddle, mistake_line, read_mistake, read_words, words_line

OF_RIDDLES = ("mistake", "left-out", "solution")
FIELDS = ("needs", "head", "row", "shows", "task", *OF_RIDDLES)
"""`needs`, `task` and `mistake` may be said any number of times."""
REPEATED = ("needs", "task", "mistake")


@dataclass(frozen=True)
class Exercise:
    """The lines of a lesson's scene beside its text and its screen."""

    needs: tuple[str, ...] = ()
    head: str = "most confidence in any"
    """A rule, as viz/lessons/place.py reads it."""
    row: str = "divided"
    shows: str = ""
    """The picture that it draws, by its name and what follows it; empty: none."""
    tasks: tuple[str, ...] = ()
    riddle: Riddle = NO_RIDDLE


NO_EXERCISE = Exercise()
"""The exercise of scenes of talks and of the gallery: none."""


def read_exercise(lines: Sequence[tuple[str, str]]) -> Exercise:
    """Read pairs (field, value). Raises ValueError, in a clause about the last of them."""
    values = {name: value for name, value in lines if name not in REPEATED}
    result: dict[str, list[str]] = {name: [] for name in REPEATED}
    for name, value in lines:
        value = " ".join(value.split())
        check(name, value)
        if name in result:
            result[name].append(value)
        else:
            values[name] = value
    riddle = Riddle(
        tuple(map(read_mistake, result["mistake"])),
        read_words(values.pop("left-out", "")),
        values.pop("solution", ""),
    )
    return Exercise(tuple(result["needs"]), tasks=tuple(result["task"]), riddle=riddle, **values)


def check(name: str, value: str) -> None:
    """Raises ValueError, in a clause, where the value of a field means nothing."""
    if name == "needs" and value not in NEEDS:
        raise ValueError(f"nothing is known of the need {value[:40]}, only {', '.join(NEEDS)}")
    if name == "head":
        read_head(value)
    if name == "row":
        check_row(value)
    if name == "task":
        read_task(value)
    if name == "mistake":
        read_mistake(value)


def exercise_lines(exercise: Exercise) -> Iterator[str]:
    """Yield the lines that `read_exercise` reads, without what is as usual."""
    yield from (f"needs: {each}" for each in exercise.needs)
    for name in ("head", "row", "shows"):
        value = getattr(exercise, name)
        if value != getattr(NO_EXERCISE, name):
            yield f"{name}: {value}"
    riddle = exercise.riddle
    yield from (f"mistake: {mistake_line(each)}" for each in riddle.mistakes)
    if riddle.left_out:
        yield f"left-out: {words_line(riddle.left_out)}"
    yield from (f"task: {each}" for each in exercise.tasks)
    if riddle.solution:
        yield f"solution: {riddle.solution}"
