"""How many cells of a map does the mask close?"""

from viz.labels import kind_name
from viz.lessons.seen import Seen
from viz.lessons.task import Given, Task


def ask(seen: Seen) -> str:
    return f"How many cells of a map of {kind_name(seen.place.kind)} does the mask close here?"


def material(seen: Seen) -> tuple[tuple[str, str], ...]:
    n_rows, n_columns = len(seen.attention.queries), len(seen.attention.keys)
    return (("rows", str(n_rows)), ("columns", str(n_columns)))


def truth(seen: Seen) -> int:
    allowed = seen.attention.allowed(seen.place.layer, seen.place.head)
    return int((~allowed).sum())


def hint(seen: Seen, given: Given) -> str:
    allowed = seen.attention.allowed(seen.place.layer, seen.place.head)
    first, last = int((~allowed[0]).sum()), int((~allowed[-1]).sum())
    return f"In the first row {first} are closed, in the last row {last}: add up all rows."


def explain(seen: Seen) -> str:
    total = len(seen.attention.queries) * len(seen.attention.keys)
    return f"{truth(seen):,} of {total:,} cells are closed."


TASK = Task("closed_cells", "number", ask, truth, hint, explain, material, of_row=False)
