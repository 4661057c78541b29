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
    is_over: bool = False


def answered(before: Tried, given: Given | None, task: Task, seen: Seen) -> Tried:
    """After another answer; None is no answer, and costs nothing."""
    if given is None:
        return replace(before, hint="Give an answer first, or let it be shown to you.")
    n, is_right = before.n + 1, task.is_right(seen, given)
    is_over = is_right or n > 1
    return Tried(given, n, "" if is_over else task.hint(seen, given), is_right, is_over)


def shown(before: Tried) -> Tried:
    """After the truth was asked for."""
    return replace(before, hint="", is_right=False, is_over=True)
