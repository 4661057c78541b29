"""Step one of attention: the product of a query and a key, added up dimension by dimension."""

from torch import Tensor

from viz.labels import number
from viz.lessons.seen import Seen
from viz.lessons.task import Reply, Task

TOP = 4
"""Dimensions that stand by themselves: those with the largest products."""


def ask(seen: Seen) -> str:
    word = seen.words[seen.strongest]
    return f"What is q · k of ‘{seen.row_word}’ and ‘{word}’? Multiply each line, then add."


def _key(seen: Seen) -> int:
    return seen.open_keys[seen.strongest]


def material(seen: Seen) -> tuple[tuple[str, str], ...]:
    """The largest products as pairs of factors, and the sum of all others."""
    cell = seen.cell(_key(seen))
    top = cell.products.abs().topk(min(TOP, len(cell.products))).indices.tolist()
    rows = [(f"dimension {i}", f"{_factor(cell.q[i])} × {_factor(cell.k[i])}") for i in sorted(top)]
    rest = cell.dot - float(cell.products[top].sum())
    n = len(cell.products) - len(top)
    return (*rows, (f"the other {n} products together", number(rest)))


def _factor(value: Tensor) -> str:
    """In brackets where it is below 0."""
    text = number(value)
    return f"({text})" if float(value) < 0 else text


def truth(seen: Seen) -> float:
    return seen.cell(_key(seen)).dot


def hint(seen: Seen, answer: Reply) -> str:
    cell = seen.cell(_key(seen))
    i = int(cell.products.abs().argmax())
    return f"The largest product, of dimension {i}, is {number(cell.products[i])}: mind the signs."


def explain(seen: Seen) -> str:
    cell = seen.cell(_key(seen))
    word = seen.words[seen.strongest]
    return (
        f"q · k of ‘{seen.row_word}’ and ‘{word}’ is {number(cell.dot, 1)}: one number for "
        f"how well two vectors of {len(cell.q)} dimensions agree."
    )


TASK = Task("dot", "number", ask, truth, hint, explain, material, decimals=1, needs=("scores",))
