"""An attempt at a task: its last answer, and what followed."""

from dataclasses import dataclass, replace

from viz.lessons.subject import Subject
from viz.lessons.task import Reply, Task


@dataclass(frozen=True)
class Attempt:
    """The last answer to a task.

    A task is over when that was right, at the second answer, or when somebody asked for the truth.
    """

    answer: Reply | None = None
    """None: nobody answered."""
    n: int = 0
    """The number of answers."""
    hint: str = ""
    """A sentence about the answer, while the task is not over."""
    is_right: bool = False
    is_wrong: bool = False
    """Neither: nothing was answered, or the truth was asked for instead."""
    is_over: bool = False
    waits: bool = False
    """True: it is to be graded, or told, once the truth is known."""
    new: Reply | None = None
    """The answer that is to be graded; None: the truth is to be told."""


def waiting(before: Attempt, answer: Reply | None = None) -> Attempt:
    """Return the attempt with an answer to be graded; None: with the truth to be told."""
    return replace(before, waits=True, new=answer)


def graded(before: Attempt, task: Task, subject: Subject) -> Attempt:
    """Grade the answer that waits, or tell the truth."""
    then = replace(before, waits=False, new=None)
    return reveal(then) if before.new is None else answered(then, before.new, task, subject)


def answered(before: Attempt, answer: Reply | None, task: Task, subject: Subject) -> Attempt:
    """Return the attempt after another answer.

    None is no answer and costs nothing; nor does the same one again, as of a button that was
    pressed twice.
    """
    if answer is None:
        hint = "Give an answer first, or let it be shown to you."
        return replace(before, hint=hint, is_wrong=False)
    is_same = before.n > 0 and answer == before.answer
    n, is_right = before.n + (not is_same), task.is_right(subject, answer)
    is_over = is_right or n > 1
    hint = "" if is_over else task.hint(subject, answer)
    return Attempt(answer, n, hint, is_right, not is_right, is_over)


def reveal(before: Attempt) -> Attempt:
    """Return the attempt after the truth was asked for."""
    return replace(before, hint="", is_right=False, is_wrong=False, is_over=True)
