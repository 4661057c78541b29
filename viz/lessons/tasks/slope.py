"""The task about a weight that moves with its score: the derivative of softmax."""

from viz.lessons.seen import Seen
from viz.lessons.task import Reply, Task


def ask(seen: Seen) -> str:
    return f"Softmax has the slope a · (1 − a) at a weight a. What is it at ‘{_word(seen)}’?"


def _word(seen: Seen) -> str:
    return seen.words[seen.strongest]


def material(seen: Seen) -> tuple[tuple[str, str], ...]:
    weight = float(seen.weights[seen.strongest])
    return ((f"a, the weight of ‘{_word(seen)}’ in the row ‘{seen.row_word}’", f"{weight:.4f}"),)


def truth(seen: Seen) -> float:
    weight = float(seen.weights[seen.strongest])
    return weight * (1 - weight)


def hint(seen: Seen, answer: Reply) -> str:
    rest = 1 - float(seen.weights[seen.strongest])
    return f"1 − a is {rest:.4f}: multiply both."


def explain(seen: Seen) -> str:
    return (
        f"The slope is {truth(seen):.3f}. It is 0.25 at most, at a weight of one half, and next to "
        "nothing where a row is sure: such a row hardly learns any more."
    )


TASK = Task("slope", "number", ask, truth, hint, explain, material, decimals=3)
