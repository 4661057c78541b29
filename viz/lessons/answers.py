"""Answers to tasks: an attempt with what followed, and what a browser keeps of it over a reload."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

from viz.lessons.subject import Subject
from viz.lessons.task import Reply, Task

# An attempt at a task: its last answer, and what followed.

NO_ANSWER = "Give an answer first, or let it be shown to you."


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
    has_reason: bool = False
    """True: the answer was likely, and the hint says why it is not right."""
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
        return replace(before, hint=NO_ANSWER, is_wrong=False)
    is_same = before.n > 0 and answer == before.answer
    n, is_right = before.n + (not is_same), task.is_right(subject, answer)
    is_over = is_right or n > 1
    if is_over:
        return Attempt(answer, n, is_right=is_right, is_wrong=not is_right, is_over=True)
    reason = task.reason(subject, answer)
    parts = reason or task.distance(subject, answer), task.hint(subject, answer)
    hint = " ".join(filter(None, parts))
    return Attempt(answer, n, hint, bool(reason), is_wrong=True)


def reveal(before: Attempt) -> Attempt:
    """Return the attempt after the truth was asked for."""
    return replace(before, hint="", is_right=False, is_wrong=False, is_over=True)


# Answers as the browser keeps them over a reload: what was given, and never whether it is right.
#
# That is found out anew, on what is on screen then.

MOST = 500
"""Tasks of a session that are remembered; the oldest leave first."""
LONGEST = 200_000
"""Characters of all that a browser keeps."""
LARGEST = 1e12
"""No number that is an answer is larger."""
Entry = tuple[int, Reply | None, bool]
"""The number of answers, the last of them, and True where the task is over."""
FINISHED: Entry = 0, None, True
"""The entry of a lesson whose tasks are all over."""


def code_of(name: tuple[object, ...]) -> str:
    """Return a task's code, by its place and its subject: the same in every session."""
    return blake2b(repr(name).encode(), digest_size=8).hexdigest()


def entry_of(attempt: Attempt) -> Entry:
    """Return a browser's entry of a task."""
    return attempt.n, attempt.answer, attempt.is_over


def attempt_of(value: Entry, task: Task, subject: Subject) -> Attempt:
    """Restore the attempt of an entry; as if never answered, where it cannot be."""
    n, values, is_over = value
    if values is not None and not _fits(values, task, subject):
        return Attempt()
    attempt = Attempt() if values is None else answered(Attempt(n=n - 1), values, task, subject)
    return reveal(attempt) if is_over and not attempt.is_over else attempt


def read_entries(text: object) -> Mapping[str, Entry]:
    """Read a browser's entries, by codes: as far as they can be read."""
    try:
        data = json.loads(text) if isinstance(text, str) and len(text) <= LONGEST else None
    except (ValueError, RecursionError):
        data = None
    each = list(data.items())[-MOST:] if isinstance(data, dict) else []
    return {name: entry for name, value in each if (entry := _read(value)) is not None}


def _read(value: Any) -> Entry | None:
    match value:
        case [0, None, True]:
            return 0, None, True
        case [1 | 2 as n, int() | float() as given, bool(is_over)] if _is_number(given):
            return n, given, is_over
        case [1 | 2 as n, list(points), bool(is_over)] if all(map(_is_number, points)):
            return n, tuple(points), is_over
    return None


def _is_number(value: Any) -> bool:
    is_one = isinstance(value, int | float) and not isinstance(value, bool)
    return is_one and -LARGEST <= value <= LARGEST


def _fits(answer: Reply, task: Task, subject: Subject) -> bool:
    """Tell whether it can be an answer to this task."""
    if isinstance(answer, tuple):
        is_for_all = task.form == "spread" and len(answer) == len(task.options(subject))
        return is_for_all and all(0 <= each <= 100 for each in answer) and sum(answer) > 0
    if task.form in ("number", "spread"):
        return task.form == "number"
    return isinstance(answer, int) and 0 <= answer < len(task.options(subject))
