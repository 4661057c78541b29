"""How many words may a row look at?"""

from viz.lessons.seen import Seen
from viz.lessons.task import Given, Task


def ask(seen: Seen) -> str:
    return f"How many tokens may the row ‘{seen.row_word}’ look at, itself among them?"


def truth(seen: Seen) -> int:
    return len(seen.open_keys)


def hint(seen: Seen, given: Given) -> str:
    return f"The last one that it may look at is ‘{seen.words[-1]}’."


def explain(seen: Seen) -> str:
    n, of = truth(seen), len(seen.attention.keys)
    return f"{n} of {of}: from ‘{seen.words[0]}’ to ‘{seen.words[-1]}’."


TASK = Task("open_keys", "number", ask, truth, hint, explain, of_row=False)
