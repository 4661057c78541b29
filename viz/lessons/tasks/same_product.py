"""The task to find two positions as alike as two others: sinusoids know distances only."""

from torch import Tensor

from transformer.positions.encodings import find_pairs
from viz.labels import number
from viz.lessons.subject import Subject
from viz.lessons.task import Reply, Task

Pair = tuple[int, int]


def ask(subject: Subject) -> str:
    (a, b), table = _first(subject), _table(subject)
    product = float(table[a] @ table[b])
    text = f"The encodings of positions {a} and {b} have the product {number(product)}."
    return f"{text} Which other two have the same?"


def _table(subject: Subject) -> Tensor:
    """The encodings of the first side that has sinusoids [P, D]."""
    sides = subject.recording.positions.values()
    return next(side.table for side in sides if find_pairs(side.table) is not None).float().cpu()


def _first(subject: Subject) -> Pair:
    n = len(_table(subject))
    a = min(subject.place.query, max(0, n - 12))
    return a, a + 2 + len(subject.attention.keys) % 3


def _pairs(subject: Subject) -> list[Pair]:
    """One of them as far apart as the first, in an order that the sentence decides."""
    a, b = _first(subject)
    pairs = [(a + 4, b + 4), (a + 4, b + 5), (a, b + 3), (a + 1, b + 4)]
    turned = (len(subject.attention.keys) + len(subject.tokens)) % len(pairs)
    return pairs[turned:] + pairs[:turned]


def options(subject: Subject) -> tuple[str, ...]:
    return tuple(f"positions {a} and {b}" for a, b in _pairs(subject))


def truth(subject: Subject) -> int:
    (a, b), table = _first(subject), _table(subject)
    product = float(table[a] @ table[b])
    misses = [abs(float(table[c] @ table[d]) - product) for c, d in _pairs(subject)]
    return misses.index(min(misses))


def hint(subject: Subject, answer: Reply) -> str:
    assert isinstance(answer, int)
    c, d = _pairs(subject)[answer]
    table = _table(subject)
    return f"These two have {number(table[c] @ table[d])}. Count how far apart they are."


def explain(subject: Subject) -> str:
    (a, b), (c, d), table = _first(subject), _pairs(subject)[truth(subject)], _table(subject)
    product = float(table[c] @ table[d])
    return f"Positions {c} and {d} have {number(product)}, too: both pairs are {b - a} apart."


TASK = Task(
    "same_product",
    "choice",
    ask,
    truth,
    hint,
    explain,
    options=options,
    needs=("sinusoids", "room"),
    of_row=False,
)
