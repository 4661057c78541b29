"""The task to find two positions as alike as two others: sinusoids know distances only."""

from torch import Tensor

from transformer.positions.encodings import find_pairs
from viz.labels import number
from viz.lessons.seen import Seen
from viz.lessons.task import Reply, Task

Pair = tuple[int, int]


def ask(seen: Seen) -> str:
    (a, b), table = _first(seen), _table(seen)
    product = float(table[a] @ table[b])
    text = f"The encodings of positions {a} and {b} have the product {number(product)}."
    return f"{text} Which other two have the same?"


def _table(seen: Seen) -> Tensor:
    """The encodings of the first side that has sinusoids [P, D]."""
    sides = seen.recording.positions.values()
    return next(side.table for side in sides if find_pairs(side.table) is not None).float().cpu()


def _first(seen: Seen) -> Pair:
    n = len(_table(seen))
    a = min(seen.place.query, max(0, n - 12))
    return a, a + 2 + len(seen.attention.keys) % 3


def _pairs(seen: Seen) -> list[Pair]:
    """One of them as far apart as the first, in an order that the sentence decides."""
    a, b = _first(seen)
    pairs = [(a + 4, b + 4), (a + 4, b + 5), (a, b + 3), (a + 1, b + 4)]
    turned = (len(seen.attention.keys) + len(seen.words)) % len(pairs)
    return pairs[turned:] + pairs[:turned]


def options(seen: Seen) -> tuple[str, ...]:
    return tuple(f"positions {a} and {b}" for a, b in _pairs(seen))


def truth(seen: Seen) -> int:
    (a, b), table = _first(seen), _table(seen)
    product = float(table[a] @ table[b])
    misses = [abs(float(table[c] @ table[d]) - product) for c, d in _pairs(seen)]
    return misses.index(min(misses))


def hint(seen: Seen, answer: Reply) -> str:
    assert isinstance(answer, int)
    c, d = _pairs(seen)[answer]
    table = _table(seen)
    return f"These two have {number(table[c] @ table[d])}. Count how far apart they are."


def explain(seen: Seen) -> str:
    (a, b), (c, d), table = _first(seen), _pairs(seen)[truth(seen)], _table(seen)
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
