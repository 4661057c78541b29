"""The fields of a scene that make it one of a lesson: what it needs, means, shows and asks."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from transformer.checkpoint import Checkpoint
from transformer.discover import discover
from transformer.positions.encodings import find_pairs
from transformer.recording import Recording
from transformer.training.history import list_snapshots
from viz.lessons.riddle import NO_RIDDLE, Riddle, mistake_line, read_mistake, read_words, words_line
from viz.lessons.subject import check_row, read_head
from viz.lessons.task import Task

# Needs of a scene: abilities of a checkpoint, each with a test and its words.

ROOM = 24
"""Positions after a sentence that scenes about shifts need."""


@dataclass(frozen=True)
class Need:
    """holds: whether a checkpoint, and what it made of the sentence, has it."""

    lacks: str
    """The words for a checkpoint that lacks it, after its name: "has no decoder"."""
    holds: Callable[[Checkpoint, Recording], bool]


def _kind(kind: str, words: str) -> Need:
    return Need(f"has no {words}", lambda checkpoint, recording: kind in recording.attentions)


def _has_sinusoids(checkpoint: Checkpoint, recording: Recording) -> bool:
    return any(find_pairs(side.table) is not None for side in recording.positions.values())


def _has_room(checkpoint: Checkpoint, recording: Recording) -> bool:
    sides = recording.positions.values()
    return bool(sides) and all(len(side.table) >= len(side.tokens) + ROOM for side in sides)


def _knows_scores(checkpoint: Checkpoint, recording: Recording) -> bool:
    calls = [call for each in recording.attentions.values() for call in each.calls]
    return all(call.knows_scores and call.v.size(-1) > 0 for call in calls)


def _scales(checkpoint: Checkpoint, recording: Recording) -> bool:
    return all(call.scale != 1 for each in recording.attentions.values() for call in each.calls)


def _writes(checkpoint: Checkpoint, recording: Recording) -> bool:
    return len(recording.target) > 1 and recording.has_target_logits


def _has_snapshots(checkpoint: Checkpoint, recording: Recording) -> bool:
    return len(list_snapshots(checkpoint.path)) > 1


NEEDS: Mapping[str, Need] = {
    "encoder_self": _kind("encoder_self", "encoder"),
    "decoder_self": _kind("decoder_self", "decoder"),
    "cross": _kind("cross", "cross-attention"),
    "sinusoids": Need("adds no sinusoids to its words", _has_sinusoids),
    "room": Need("has no positions left after this sentence", _has_room),
    "scores": Need("leaves only its weights, not its queries and keys", _knows_scores),
    "scale": Need("does not scale its products", _scales),
    "writes": Need("writes nothing", _writes),
    "snapshots": Need("has no snapshots of its training", _has_snapshots),
}


def lacking(needs: tuple[str, ...], checkpoint: Checkpoint, recording: Recording) -> str | None:
    """Return the words for the first need that is not met; None where all are."""
    missing = (NEEDS[name] for name in needs if not NEEDS[name].holds(checkpoint, recording))
    return next((need.lacks for need in missing), None)


# All kinds of tasks, and what a scene writes of them.


def tasks() -> dict[str, Task]:
    """name -> task, for all kinds that there are."""
    result: dict[str, Task] = discover("viz.lessons.tasks", "TASK")
    return result


def read_task(text: str) -> tuple[Task, tuple[int, ...]]:
    """ "turn 3" -> the task and its numbers. Raises ValueError, in a clause."""
    name, *arguments = text.split()
    every = tasks()
    if name not in every:
        raise ValueError(f"there is no task {name[:40]}, only {', '.join(every)}")
    task = every[name]
    if len(arguments) != len(task.takes) or not all(
        each.isdigit() and len(each) < 8 for each in arguments
    ):
        takes = " and ".join(task.takes) or "nothing"
        raise ValueError(f"the task {name} takes {takes} behind its name")
    return task, tuple(map(int, arguments))


# The fields of a scene that make it one of a lesson: what it needs, means, shows and asks.

OF_RIDDLES = ("mistake", "left-out", "solution")
FIELDS = ("needs", "head", "row", "shows", "own", "task", *OF_RIDDLES)
"""`needs`, `task` and `mistake` may be said any number of times."""
REPEATED = ("needs", "task", "mistake")


@dataclass(frozen=True)
class Exercise:
    """The lines of a lesson's scene beside its text and its screen."""

    needs: tuple[str, ...] = ()
    head: str = "most confidence in any"
    """A rule, as viz/lessons/subject.py reads it."""
    row: str = "divided"
    shows: str = ""
    """The picture that it draws, by its name and what follows it; empty: none."""
    own: str = ""
    """ "yes": its tasks ask about a sentence that the learner types there."""
    tasks: tuple[str, ...] = ()
    riddle: Riddle = NO_RIDDLE

    @property
    def is_of_evidence(self) -> bool:
        """Tell whether it is about words that are written, by what each of them needs."""
        return self.riddle != NO_RIDDLE or any(read_task(it)[0].of_evidence for it in self.tasks)


NO_EXERCISE = Exercise()
"""The exercise of scenes of talks and of the gallery: none."""


def read_exercise(lines: Sequence[tuple[str, str]]) -> Exercise:
    """Read pairs (field, value). Raises ValueError, in a clause about the last of them."""
    values = {name: value for name, value in lines if name not in REPEATED}
    result: dict[str, list[str]] = {name: [] for name in REPEATED}
    for name, value in lines:
        value = " ".join(value.split())
        # Raises ValueError, in a clause, where the value of a field means nothing.
        if name == "needs" and value not in NEEDS:
            raise ValueError(f"nothing is known of the need {value[:40]}, only {', '.join(NEEDS)}")
        if name == "head":
            read_head(value)
        if name == "row":
            check_row(value)
        if name == "own" and value != "yes":
            raise ValueError("own reads yes, or is left out")
        if name == "task":
            read_task(value)
        if name == "mistake":
            read_mistake(value)
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


def exercise_lines(exercise: Exercise) -> Iterator[str]:
    """Yield the lines that `read_exercise` reads, without what is as usual."""
    yield from (f"needs: {each}" for each in exercise.needs)
    for name in ("head", "row", "shows", "own"):
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


# The time that a lesson takes.

WORDS, TASKS = 200, 1.5
"""Words that are read per minute; answers that are given per minute."""


def minutes(texts: list[str], exercises: list[Exercise]) -> int:
    """Whole minutes for texts and tasks together."""
    words = sum(len(text.split()) for text in texts)
    return max(1, math.ceil(words / WORDS + n_tasks(exercises) / TASKS))


def n_tasks(exercises: list[Exercise]) -> int:
    """The tasks of all scenes together."""
    return sum(len(exercise.tasks) for exercise in exercises)
