"""The task to count the cells of a map that the mask closes."""

from viz.lessons.subject import Subject
from viz.lessons.task import Reply, Task


def ask(subject: Subject) -> str:
    return "How many cells of the map of this head does the mask close?"


def material(subject: Subject) -> tuple[tuple[str, str], ...]:
    n_rows, n_columns = len(subject.attention.queries), len(subject.attention.keys)
    return (("rows", str(n_rows)), ("columns", str(n_columns)))


def truth(subject: Subject) -> int:
    allowed = subject.attention.allowed(subject.place.layer, subject.place.head)
    return int((~allowed).sum())


def hint(subject: Subject, answer: Reply) -> str:
    allowed = subject.attention.allowed(subject.place.layer, subject.place.head)
    first, last = int((~allowed[0]).sum()), int((~allowed[-1]).sum())
    return f"In the first row {first} are closed, in the last row {last}: add up all rows."


def explain(subject: Subject) -> str:
    closed = (~subject.attention.allowed(subject.place.layer, subject.place.head)).sum(-1).tolist()
    total = len(closed) * len(subject.attention.keys)
    return f"{_rows(closed)}{truth(subject):,} of {total:,} cells are closed."


def _rows(closed: list[int]) -> str:
    """ "Row by row 3 + 2 + 1 + 0: " of a triangle; nothing where the mask has another form."""
    if closed != list(range(len(closed)))[::-1] or len(closed) < 2:
        return ""
    each = closed if len(closed) < 5 else [closed[0], closed[1], "…", 1, 0]
    return f"Row by row {' + '.join(map(str, each))}: "


TASK = Task(
    "closed_cells", "number", ask, truth, hint, explain, material, of_row=False, of_tokens=True
)
