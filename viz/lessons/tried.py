"""How far somebody is with a task."""

from dataclasses import dataclass, replace

from viz.lessons.seen import Seen
from viz.lessons.task import Given, Task


@dataclass(frozen=True)
class Tried:
    """What was answered last; a task is over when that was right, at the second answer, or when
    somebody asked for the truth.
    """

    given: Given | None = None
    """None: nobody answered."""
    n: int = 0
    """How many answers were given."""
    hint: str = ""
    """What was said of it, while it is not over."""
    is_right: bool = False
    is_wrong: bool = False
    """Neither: nothing was answered, or the truth was asked for instead."""
    is_over: bool = False
    waits: bool = False
    """Whether it is to be graded, or told, once the truth is known."""
    new: Given | None = None
    """The answer that is to be graded; None: the truth is to be told."""


def waiting(before: Tried, answer: Given | None = None) -> Tried:
    """After an answer that is to be graded; None: after the truth was asked for."""
    return replace(before, waits=True, new=answer)


def graded(before: Tried, task: Task, seen: Seen) -> Tried:
    """Once the truth is known."""
    then = replace(before, waits=False, new=None)
    return reveal(then) if before.new is None else answered(then, before.new, task, seen)


def answered(before: Tried, answer: Given | None, task: Task, seen: Seen) -> Tried:
    """After another answer. None is no answer and costs nothing; nor does the same one again, as of
    a button that was pressed twice.
    """
    if answer is None:
        hint = "Give an answer first, or let it be shown to you."
        return replace(before, hint=hint, is_wrong=False)
    is_same = before.n > 0 and answer == before.given
    n, is_right = before.n + (not is_same), task.is_right(seen, answer)
    is_over = is_right or n > 1
    hint = "" if is_over else task.hint(seen, answer)
    return Tried(answer, n, hint, is_right, not is_right, is_over)


def reveal(before: Tried) -> Tried:
    """After the truth was asked for."""
    return replace(before, hint="", is_right=False, is_wrong=False, is_over=True)
