"""Step four of attention: the values are mixed by the weights."""

from torch import Tensor

from viz.labels import number
from viz.lessons.subject import Subject
from viz.lessons.task import Reply, Task, digits_of

TOP = 3
"""Keys that stand by themselves, those that add most; the others are added up."""


def _parts(subject: Subject) -> tuple[Tensor, Tensor, int]:
    """Weights and values [N] of the open keys, in the dimension with the largest sum."""
    place = subject.place
    call = subject.attention.calls[place.layer].only(place.head)
    v = call.v[0].float().cpu()[subject.open_keys]  # [N, d_value]
    dimension = int((subject.token_weights @ v).abs().argmax())
    return subject.token_weights, v[:, dimension], dimension


def ask(subject: Subject) -> str:
    dimension = _parts(subject)[2]
    where = f"‘{subject.row_word}’, in dimension {dimension}"
    return f"What does the head hand on for {where}? Add weight × value of all."


def material(subject: Subject) -> tuple[tuple[str, str], ...]:
    weights, values, _ = _parts(subject)
    top = sorted((weights * values).abs().argsort(descending=True).tolist()[:TOP])
    rows = [(f"{subject.tokens[i]}", f"{float(weights[i]):.3f} × {_value(values[i])}") for i in top]
    others = [i for i in range(len(weights)) if i not in top]
    if not others:
        return tuple(rows)
    rest = float((weights[others] * values[others]).sum())
    return (*rows, (f"the other {len(others)} together", number(rest, 3)))


def _value(value: Tensor) -> str:
    """In brackets where it is below 0."""
    text = number(value)
    return f"({text})" if float(value) < 0 else text


def truth(subject: Subject) -> float:
    weights, values, _ = _parts(subject)
    return float(weights @ values)


def hint(subject: Subject, answer: Reply) -> str:
    weights, values, _ = _parts(subject)
    i = int((weights * values).abs().argmax())
    part = number(digits_of(weights[i], 3) * digits_of(values[i]))
    return (
        f"‘{subject.tokens[i]}’ adds {part}: multiply the other lines the same way, then add all."
    )


def explain(subject: Subject) -> str:
    n = len(subject.token_weights)
    all_tokens = "the only token" if n == 1 else f"all {n} tokens"
    return (
        f"The sum over {all_tokens} is {number(truth(subject))}: a mean of their values, in "
        "which each counts as much as its weight."
    )


TASK = Task("mix", "number", ask, truth, hint, explain, material, decimals=2, needs=("scores",))
