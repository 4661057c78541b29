"""Tasks to count what a map has, and what a mask closes of it."""

import torch

from viz.labels import kind_name
from viz.lessons.subject import Subject
from viz.lessons.task import Reason, Reply, Task

# The task to count the weights of one head.


def ask_cells(subject: Subject) -> str:
    return f"How many weights does one head of {kind_name(subject.place.kind)} have here?"


def material_cells(subject: Subject) -> tuple[tuple[str, str], ...]:
    attention = subject.attention
    return (("queries", str(len(attention.queries))), ("keys", str(len(attention.keys))))


def truth_cells(subject: Subject) -> int:
    return int(subject.attention.weights(subject.place.layer, subject.place.head).numel())


def hint_cells(subject: Subject, answer: Reply) -> str:
    return f"Each query ({len(subject.attention.queries)}) has a weight for every key."


def explain_cells(subject: Subject) -> str:
    attention = subject.attention
    n_rows, n_columns = len(attention.queries), len(attention.keys)
    heads = attention.n_layers * attention.n_heads
    return (
        f"{n_rows} × {n_columns} = {truth_cells(subject):,}, in each head of this kind ({heads})."
    )


def all_heads_cells(subject: Subject) -> int:
    return truth_cells(subject) * subject.attention.n_layers * subject.attention.n_heads


def sum_cells(subject: Subject) -> int:
    return len(subject.attention.queries) + len(subject.attention.keys)


CELLS_TASK = Task(
    "cells",
    "number",
    ask_cells,
    truth_cells,
    hint_cells,
    explain_cells,
    material_cells,
    of_row=False,
    of_tokens=True,
    reasons=(
        Reason(sum_cells, lambda it: "That is both added up, and they are multiplied."),
        Reason(
            all_heads_cells,
            lambda it: "That counts all heads of this kind, and one of them is meant.",
        ),
    ),
)


# The task to count the cells of a map that the mask closes.

CLOSED = {
    "ask": "How many cells of the map of this head does the mask close?",
    "rows": "rows",
    "columns": "columns",
    "hint": "In the first row {first} are closed, in the last row {last}: add up all rows.",
    "by_row": "Row by row {sum}: ",
    "explain": "{by_row}{n} of {total} cells are closed.",
    "open": "That is the number of open ones.",
    "half": "That is half of the map, but its diagonal is open, too.",
}
"""Words of the task: pages without a server say it, too (viz/lessons/own.py)."""


def ask_closed_cells(subject: Subject) -> str:
    return CLOSED["ask"]


def material_closed_cells(subject: Subject) -> tuple[tuple[str, str], ...]:
    n_rows, n_columns = len(subject.attention.queries), len(subject.attention.keys)
    return ((CLOSED["rows"], str(n_rows)), (CLOSED["columns"], str(n_columns)))


def _closed(subject: Subject) -> list[int]:
    """The number of closed cells of each row."""
    allowed = subject.attention.allowed(subject.place.layer, subject.place.head)  # [Q, K]
    return [int(n) for n in (~allowed).sum(-1)]


def truth_closed_cells(subject: Subject) -> int:
    return sum(_closed(subject))


def hint_closed_cells(subject: Subject, answer: Reply) -> str:
    closed = _closed(subject)
    first, last = closed[0], closed[-1]
    return CLOSED["hint"].format(first=first, last=last)


def explain_closed_cells(subject: Subject) -> str:
    closed = _closed(subject)
    total = len(closed) * len(subject.attention.keys)
    return CLOSED["explain"].format(by_row=_rows(closed), n=f"{sum(closed):,}", total=f"{total:,}")


def _rows(closed: list[int]) -> str:
    """ "Row by row 3 + 2 + 1 + 0: " of a triangle; nothing where the mask has another form."""
    if closed != list(range(len(closed)))[::-1] or len(closed) < 2:
        return ""
    each = closed if len(closed) < 5 else [closed[0], closed[1], "…", 1, 0]
    return CLOSED["by_row"].format(sum=" + ".join(map(str, each)))


def open_cells(subject: Subject) -> int:
    return truth_cells(subject) - truth_closed_cells(subject)


def half_of_cells(subject: Subject) -> int:
    return truth_cells(subject) // 2


CLOSED_CELLS_TASK = Task(
    "closed_cells",
    "number",
    ask_closed_cells,
    truth_closed_cells,
    hint_closed_cells,
    explain_closed_cells,
    material_closed_cells,
    of_row=False,
    of_tokens=True,
    reasons=(
        Reason(open_cells, lambda it: CLOSED["open"]),
        Reason(half_of_cells, lambda it: CLOSED["half"]),
    ),
)


# The task to count the words that a row may look at.


def ask_open_keys(subject: Subject) -> str:
    return f"How many tokens may the row ‘{subject.row_word}’ look at, itself among them?"


def material_open_keys(subject: Subject) -> tuple[tuple[str, str], ...]:
    """Say where the text begins, which no row of tokens shows, and where the row stands."""
    first, at = subject.open_keys[0], subject.place.query
    begins = (f"position {first}", subject.tokens[0])
    if subject.attention.is_cross or at == first:
        return (begins,)
    return begins, (f"position {at}", subject.row_word)


def truth_open_keys(subject: Subject) -> int:
    return len(subject.open_keys)


def hint_open_keys(subject: Subject, answer: Reply) -> str:
    return (
        f"It may look at ‘{subject.tokens[0]}’, at ‘{subject.tokens[-1]}’ and at all between both."
    )


def explain_open_keys(subject: Subject) -> str:
    n, of = truth_open_keys(subject), len(subject.attention.keys)
    return f"{n} of {of}: from ‘{subject.tokens[0]}’ to ‘{subject.tokens[-1]}’."


OPEN_KEYS_TASK = Task(
    "open_keys",
    "number",
    ask_open_keys,
    truth_open_keys,
    hint_open_keys,
    explain_open_keys,
    material_open_keys,
    of_row=False,
    of_tokens=True,
    reasons=(
        Reason(
            lambda it: truth_open_keys(it) - 1,
            lambda it: (
                "That is one too few: positions are counted from 0, and the row's own counts."
            ),
        ),
        Reason(
            lambda it: len(it.attention.keys),
            lambda it: "Those are all tokens that there are, and what comes later is closed.",
        ),
    ),
)


# The task about padding: the cells that it costs a sentence in a batch with a longer one.


def ask_padding(subject: Subject) -> str:
    return (
        f"Beside a sentence that is {subject.arguments[0]} tokens longer, this one is padded. How "
        "many cells of its map does the padding mask close?"
    )


def material_padding(subject: Subject) -> tuple[tuple[str, str], ...]:
    n = len(subject.attention.keys)
    return (("tokens of this sentence", str(n)), ("padding", str(subject.arguments[0])))


def _n_padded(subject: Subject) -> int:
    return len(subject.attention.keys) + subject.arguments[0]


def truth_padding(subject: Subject) -> int:
    n = _n_padded(subject)
    is_padding = torch.arange(n) >= len(subject.attention.keys)
    return int(is_padding.expand(n, n).sum())


def hint_padding(subject: Subject, answer: Reply) -> str:
    n = _n_padded(subject)
    return f"Padded, the map has {n} rows and {n} columns: whole columns are closed."


def explain_padding(subject: Subject) -> str:
    n, padding = _n_padded(subject), subject.arguments[0]
    return f"{padding} columns of {n} rows are {truth_padding(subject):,} of {n * n:,} cells."


PADDING_TASK = Task(
    "padding",
    "number",
    ask_padding,
    truth_padding,
    hint_padding,
    explain_padding,
    material_padding,
    takes=("tokens",),
    of_row=False,
    of_tokens=True,
    reasons=(
        Reason(
            lambda it: it.arguments[0] * len(it.attention.keys),
            lambda it: "Those are the rows of the sentence: the padding has rows of its own.",
        ),
        Reason(
            lambda it: it.arguments[0] ** 2,
            lambda it: "Those are the rows of the padding only: the sentence has rows, too.",
        ),
    ),
)


TASK = (CELLS_TASK, CLOSED_CELLS_TASK, OPEN_KEYS_TASK, PADDING_TASK)
