"""Step two of attention: the product times the scale."""

import math

from transformer.analysis.cell import Cell
from viz.labels import number
from viz.lessons.subject import Subject
from viz.lessons.task import Reply, Task


def _key(subject: Subject) -> int:
    return subject.open_keys[subject.strongest_token]


def ask(subject: Subject) -> str:
    word = subject.tokens[subject.strongest_token]
    return f"Which score does ‘{word}’ get from ‘{subject.row_word}’?"


def material(subject: Subject) -> tuple[tuple[str, str], ...]:
    cell = subject.cell(_key(subject))
    rows = [("q · k", number(cell.dot)), *scale_lines(len(cell.q), cell.scale)]
    if cell.bias:
        rows.append(("the model adds, for the places of both", number(cell.bias)))
    return tuple(rows)


def is_of_paper(d_head: int, scale: float) -> bool:
    """Tell whether the scale is 1 / √d_head."""
    return math.isclose(scale, d_head**-0.5, rel_tol=1e-6)


def scale_lines(d_head: int, scale: float) -> list[tuple[str, str]]:
    """The d_k of the paper and its root where its scale is used; else the scale."""
    if is_of_paper(d_head, scale):
        return [("d_k", str(d_head)), ("√d_k", f"{math.sqrt(d_head):.3f}")]
    return [("scale of this model", f"{scale:.4f}")]


def truth(subject: Subject) -> float:
    return subject.cell(_key(subject)).score


def hint(subject: Subject, answer: Reply) -> str:
    cell = subject.cell(_key(subject))
    return f"It is {number(cell.dot)} {_scaled(cell)}."


def explain(subject: Subject) -> str:
    cell = subject.cell(_key(subject))
    added = f" + {number(cell.bias)}" if cell.bias else ""
    return f"{number(cell.dot)} {_scaled(cell)}{added} = {number(cell.score)}."


def _scaled(cell: Cell) -> str:
    """Write what is done to the product, by the number that `scale_lines` gives."""
    if is_of_paper(len(cell.q), cell.scale):
        return f"/ {math.sqrt(len(cell.q)):.3f}"
    return f"× {cell.scale:.4f}"


TASK = Task("score", "number", ask, truth, hint, explain, material, decimals=2, needs=("scores",))
