"""The task to count the cells of a map that the mask closes."""

from viz.lessons.seen import Seen
from viz.lessons.task import Reply, Task


def ask(seen: Seen) -> str:
    return "How many cells of the map of this head does the mask close?"


def material(seen: Seen) -> tuple[tuple[str, str], ...]:
    n_rows, n_columns = len(seen.attention.queries), len(seen.attention.keys)
    return (("rows", str(n_rows)), ("columns", str(n_columns)))


def truth(seen: Seen) -> int:
    allowed = seen.attention.allowed(seen.place.layer, seen.place.head)
    return int((~allowed).sum())


def hint(seen: Seen, answer: Reply) -> str:
    allowed = seen.attention.allowed(seen.place.layer, seen.place.head)
    first, last = int((~allowed[0]).sum()), int((~allowed[-1]).sum())
    return f"In the first row {first} are closed, in the last row {last}: add up all rows."


def explain(seen: Seen) -> str:
    closed = (~seen.attention.allowed(seen.place.layer, seen.place.head)).sum(-1).tolist()
    total = len(closed) * len(seen.attention.keys)
    return f"{_rows(closed)}{truth(seen):,} of {total:,} cells are closed."


def _rows(closed: list[int]) -> str:
    """ "Row by row 3 + 2 + 1 + 0: " of a triangle; nothing where the mask has another form."""
    if closed != list(range(len(closed)))[::-1] or len(closed) < 2:
        return ""
    each = closed if len(closed) < 5 else [closed[0], closed[1], "…", 1, 0]
    return f"Row by row {' + '.join(map(str, each))}: "


TASK = Task("closed_cells", "number", ask, truth, hint, explain, material, of_row=False)
