"""Step two of attention: the product times the scale."""

import math

from viz.labels import number
from viz.lessons.seen import Seen
from viz.lessons.task import Reply, Task


def _key(seen: Seen) -> int:
    return seen.open_keys[seen.strongest]


def ask(seen: Seen) -> str:
    return f"Which score does ‘{seen.words[seen.strongest]}’ get from ‘{seen.row_word}’?"


def material(seen: Seen) -> tuple[tuple[str, str], ...]:
    cell = seen.cell(_key(seen))
    rows = [("q · k", number(cell.dot)), *scale_lines(len(cell.q), cell.scale)]
    if cell.bias:
        rows.append(("the model adds, for the places of both", number(cell.bias)))
    return tuple(rows)


def is_of_paper(d_head: int, scale: float) -> bool:
    """Tell whether the scale is 1 / √d_head."""
    return math.isclose(scale, d_head**-0.5, rel_tol=1e-6)


def scale_lines(d_head: int, scale: float) -> list[tuple[str, str]]:
    """d_head and its root where the scale is that of the paper; else the scale."""
    if is_of_paper(d_head, scale):
        return [("d_head", str(d_head)), ("√d_head", f"{math.sqrt(d_head):.3f}")]
    return [("scale of this model", f"{scale:.4f}")]


def truth(seen: Seen) -> float:
    return seen.cell(_key(seen)).score


def hint(seen: Seen, answer: Reply) -> str:
    cell = seen.cell(_key(seen))
    return f"The scale is {cell.scale:.4f}: multiply the product, {number(cell.dot)}, by it."


def explain(seen: Seen) -> str:
    cell = seen.cell(_key(seen))
    added = f" + {number(cell.bias)}" if cell.bias else ""
    return f"{number(cell.dot)} × {cell.scale:.4f}{added} = {number(cell.score)}."


TASK = Task("score", "number", ask, truth, hint, explain, material, decimals=2, needs=("scores",))
