"""The task about padding: the cells that it costs a sentence in a batch with a longer one."""

import torch

from viz.lessons.seen import Seen
from viz.lessons.task import Reply, Task


def ask(seen: Seen) -> str:
    return (
        f"Beside a sentence that is {seen.arguments[0]} tokens longer, this one is padded. How "
        "many cells of its map does the padding mask close?"
    )


def material(seen: Seen) -> tuple[tuple[str, str], ...]:
    n = len(seen.attention.keys)
    return (("tokens of this sentence", str(n)), ("padding", str(seen.arguments[0])))


def truth(seen: Seen) -> int:
    n = len(seen.attention.keys) + seen.arguments[0]
    is_padding = torch.arange(n) >= len(seen.attention.keys)
    return int(is_padding.expand(n, n).sum())


def hint(seen: Seen, answer: Reply) -> str:
    n = len(seen.attention.keys) + seen.arguments[0]
    return f"Padded, the map has {n} rows and {n} columns: whole columns are closed."


def explain(seen: Seen) -> str:
    n, padding = len(seen.attention.keys) + seen.arguments[0], seen.arguments[0]
    return f"{padding} columns of {n} rows are {truth(seen):,} of {n * n:,} cells."


TASK = Task(
    "padding", "number", ask, truth, hint, explain, material, takes=("tokens",), of_row=False
)
