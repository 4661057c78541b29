"""Answers as the browser keeps them over a reload: what was given, and never whether it is right.

That is found out anew, on what is on screen then.
"""

import json
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from viz.lessons.seen import Seen
from viz.lessons.task import Given, Task
from viz.lessons.tried import Tried, answered, reveal

MOST = 500
"""Tasks of a session that are remembered; the oldest leave first."""
LONGEST = 200_000
"""Characters of all that a browser keeps."""
LARGEST = 1e12
"""No number that is an answer is larger."""
Kept = tuple[int, Given | None, bool]
"""How many answers were given, the last of them, and whether the task is over."""


def code_of(name: tuple[object, ...]) -> str:
    """Of a task, by where it stands and what it is asked about: the same in every session."""
    return blake2b(repr(name).encode(), digest_size=8).hexdigest()


def kept(tried: Tried) -> Kept:
    """What is kept of a task."""
    return tried.n, tried.given, tried.is_over


def regained(value: Kept, task: Task, seen: Seen) -> Tried:
    """How far a task is of which this was kept; as if never answered, where it cannot be."""
    n, values, is_over = value
    if values is not None and not _fits(values, task, seen):
        return Tried()
    tried = Tried() if values is None else answered(Tried(n=n - 1), values, task, seen)
    return reveal(tried) if is_over and not tried.is_over else tried


def read_kept(text: object) -> Mapping[str, Kept]:
    """What a browser says that it kept, by codes: as far as it can be read."""
    try:
        data = json.loads(text) if isinstance(text, str) and len(text) <= LONGEST else None
    except (ValueError, RecursionError):
        data = None
    each = list(data.items())[-MOST:] if isinstance(data, dict) else []
    return {name: entry for name, value in each if (entry := _read(value)) is not None}


def _read(value: Any) -> Kept | None:
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


def _fits(answer: Given, task: Task, seen: Seen) -> bool:
    """Whether it can be an answer to this task."""
    if isinstance(answer, tuple):
        is_for_all = task.form == "spread" and len(answer) == len(task.options(seen))
        return is_for_all and all(0 <= each <= 100 for each in answer) and sum(answer) > 0
    if task.form in ("number", "spread"):
        return task.form == "number"
    return isinstance(answer, int) and 0 <= answer < len(task.options(seen))
