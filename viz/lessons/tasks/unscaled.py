"""The task about a row without the scale."""

from viz.lessons.subject import Subject
from viz.lessons.task import Reply, Task, percent_of

SAME = 0.02
"""Weights that differ by less are called the same."""
OPTIONS = ("less", "about the same", "more")


def ask(subject: Subject) -> str:
    word, got = subject.tokens[subject.strongest_token], percent_of(subject.token_weights.max())
    return f"‘{word}’ gets {got} from ‘{subject.row_word}’. What would it get without the scale?"


def _without(subject: Subject) -> float:
    """The same key's weight where the scale is 1; what the model adds to a score stays."""
    cell, place = subject.cell(), subject.place
    k = subject.attention.calls[place.layer].only(place.head).k[0].float().cpu()  # [K, d_key]
    scores = cell.scores + (1 - cell.scale) * (k @ cell.q)  # [K]
    return float(scores[subject.open_keys].double().softmax(-1)[subject.strongest_token])


def truth(subject: Subject) -> int:
    change = _without(subject) - float(subject.token_weights[subject.strongest_token])
    return 1 if abs(change) < SAME else 2 * (change > 0)


def hint(subject: Subject, answer: Reply) -> str:
    root = 1 / subject.cell().scale
    return f"Every difference between two scores would be {root:.1f} times as large."


def explain(subject: Subject) -> str:
    now, then = percent_of(subject.token_weights.max()), percent_of(_without(subject))
    return f"Without the scale it would get {then} instead of {now}."


TASK = Task(
    "unscaled",
    "choice",
    ask,
    truth,
    hint,
    explain,
    options=lambda subject: OPTIONS,
    needs=("scores", "scale"),
)
