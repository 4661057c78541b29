"""Step one of attention: the product of a query and a key, added up dimension by dimension."""

from torch import Tensor

from viz.labels import number
from viz.lessons.subject import Subject
from viz.lessons.task import Reply, Task, digits_of

TOP = 4
"""Dimensions that stand by themselves: those with the largest products."""


def ask(subject: Subject) -> str:
    word = subject.tokens[subject.strongest_token]
    return f"What is q · k of ‘{subject.row_word}’ and ‘{word}’? Multiply each line, then add."


def _key(subject: Subject) -> int:
    return subject.open_keys[subject.strongest_token]


def material(subject: Subject) -> tuple[tuple[str, str], ...]:
    """The largest products as pairs of factors, and the sum of all others."""
    cell = subject.cell(_key(subject))
    top = cell.products.abs().topk(min(TOP, len(cell.products))).indices.tolist()
    rows = [(f"dimension {i}", f"{_factor(cell.q[i])} × {_factor(cell.k[i])}") for i in sorted(top)]
    rest = cell.dot - float(cell.products[top].sum())
    n = len(cell.products) - len(top)
    return (*rows, (f"the other {n} products together", number(rest)))


def _factor(value: Tensor) -> str:
    """In brackets where it is below 0."""
    text = number(value)
    return f"({text})" if float(value) < 0 else text


def truth(subject: Subject) -> float:
    return subject.cell(_key(subject)).dot


def hint(subject: Subject, answer: Reply) -> str:
    cell = subject.cell(_key(subject))
    i = int(cell.products.abs().argmax())
    product = digits_of(cell.q[i]) * digits_of(cell.k[i])  # of what stands there
    return f"The largest product, of dimension {i}, is {number(product)}: mind the signs."


def explain(subject: Subject) -> str:
    cell = subject.cell(_key(subject))
    word = subject.tokens[subject.strongest_token]
    return (
        f"q · k of ‘{subject.row_word}’ and ‘{word}’ is {number(cell.dot, 1)}: one number for "
        f"how well two vectors of {len(cell.q)} dimensions agree."
    )


TASK = Task("dot", "number", ask, truth, hint, explain, material, decimals=1, needs=("scores",))
