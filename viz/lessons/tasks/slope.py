"""The task about a weight that moves with its score: the derivative of softmax."""

from viz.lessons.subject import Subject
from viz.lessons.task import Reply, Task


def ask(subject: Subject) -> str:
    return f"Softmax has the slope a · (1 − a) at a weight a. What is it at ‘{_word(subject)}’?"


def _word(subject: Subject) -> str:
    return subject.tokens[subject.strongest_token]


def material(subject: Subject) -> tuple[tuple[str, str], ...]:
    weight = float(subject.token_weights[subject.strongest_token])
    return (
        (f"a, the weight of ‘{_word(subject)}’ in the row ‘{subject.row_word}’", f"{weight:.4f}"),
    )


def truth(subject: Subject) -> float:
    weight = float(subject.token_weights[subject.strongest_token])
    return weight * (1 - weight)


def hint(subject: Subject, answer: Reply) -> str:
    rest = 1 - float(subject.token_weights[subject.strongest_token])
    return f"1 − a is {rest:.4f}: multiply both."


def explain(subject: Subject) -> str:
    return (
        f"The slope is {truth(subject):.3f}. It is 0.25 at most, at a weight of one half, and next "
        "to nothing where a row is sure: such a row hardly learns any more."
    )


TASK = Task("slope", "number", ask, truth, hint, explain, material, decimals=3)
