"""The task about padding: the cells that it costs a sentence in a batch with a longer one."""

import torch

from viz.lessons.subject import Subject
from viz.lessons.task import Reply, Task


def ask(subject: Subject) -> str:
    return (
        f"Beside a sentence that is {subject.arguments[0]} tokens longer, this one is padded. How "
        "many cells of its map does the padding mask close?"
    )


def material(subject: Subject) -> tuple[tuple[str, str], ...]:
    n = len(subject.attention.keys)
    return (("tokens of this sentence", str(n)), ("padding", str(subject.arguments[0])))


def truth(subject: Subject) -> int:
    n = len(subject.attention.keys) + subject.arguments[0]
    is_padding = torch.arange(n) >= len(subject.attention.keys)
    return int(is_padding.expand(n, n).sum())


def hint(subject: Subject, answer: Reply) -> str:
    n = len(subject.attention.keys) + subject.arguments[0]
    return f"Padded, the map has {n} rows and {n} columns: whole columns are closed."


def explain(subject: Subject) -> str:
    n, padding = len(subject.attention.keys) + subject.arguments[0], subject.arguments[0]
    return f"{padding} columns of {n} rows are {truth(subject):,} of {n * n:,} cells."


TASK = Task(
    "padding",
    "number",
    ask,
    truth,
    hint,
    explain,
    material,
    takes=("tokens",),
    of_row=False,
    of_tokens=True,
)
