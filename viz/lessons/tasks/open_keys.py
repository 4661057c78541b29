"""The task to count the words that a row may look at."""

from viz.lessons.seen import Seen
from viz.lessons.task import Reply, Task


def ask(seen: Seen) -> str:
    return f"How many tokens may the row ‘{seen.row_word}’ look at, itself among them?"


def material(seen: Seen) -> tuple[tuple[str, str], ...]:
    """Say where the text begins, which no row of tokens shows, and where the row stands."""
    first, at = seen.open_keys[0], seen.place.query
    begins = (f"position {first}", seen.words[0])
    if seen.attention.is_cross or at == first:
        return (begins,)
    return begins, (f"position {at}", seen.row_word)


def truth(seen: Seen) -> int:
    return len(seen.open_keys)


def hint(seen: Seen, answer: Reply) -> str:
    return f"It may look at ‘{seen.words[0]}’, at ‘{seen.words[-1]}’ and at all between both."


def explain(seen: Seen) -> str:
    n, of = truth(seen), len(seen.attention.keys)
    return f"{n} of {of}: from ‘{seen.words[0]}’ to ‘{seen.words[-1]}’."


TASK = Task("open_keys", "number", ask, truth, hint, explain, material, of_row=False)
