"""The task to count the words that a row may look at."""

from viz.lessons.subject import Subject
from viz.lessons.task import Reply, Task


def ask(subject: Subject) -> str:
    return f"How many tokens may the row ‘{subject.row_word}’ look at, itself among them?"


def material(subject: Subject) -> tuple[tuple[str, str], ...]:
    """Say where the text begins, which no row of tokens shows, and where the row stands."""
    first, at = subject.open_keys[0], subject.place.query
    begins = (f"position {first}", subject.tokens[0])
    if subject.attention.is_cross or at == first:
        return (begins,)
    return begins, (f"position {at}", subject.row_word)


def truth(subject: Subject) -> int:
    return len(subject.open_keys)


def hint(subject: Subject, answer: Reply) -> str:
    return (
        f"It may look at ‘{subject.tokens[0]}’, at ‘{subject.tokens[-1]}’ and at all between both."
    )


def explain(subject: Subject) -> str:
    n, of = truth(subject), len(subject.attention.keys)
    return f"{n} of {of}: from ‘{subject.tokens[0]}’ to ‘{subject.tokens[-1]}’."


TASK = Task(
    "open_keys", "number", ask, truth, hint, explain, material, of_row=False, of_tokens=True
)
