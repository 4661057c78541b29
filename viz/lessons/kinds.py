"""All kinds of tasks, and what a scene writes of them."""

from transformer.discover import discover
from viz.lessons.task import Task


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
