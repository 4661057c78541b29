"""The task about a row without the scale."""

from viz.lessons.seen import Seen
from viz.lessons.task import Reply, Task, percent_of

SAME = 0.02
"""Weights that differ by less are called the same."""
OPTIONS = ("less", "about the same", "more")


def ask(seen: Seen) -> str:
    word, got = seen.words[seen.strongest], percent_of(seen.weights[seen.strongest])
    return f"‘{word}’ gets {got} from ‘{seen.row_word}’. What would it get without the scale?"


def _without(seen: Seen) -> float:
    """The same key's weight where the scale is 1; what the model adds to a score stays."""
    cell, place = seen.cell(), seen.place
    k = seen.attention.calls[place.layer].only(place.head).k[0].float().cpu()  # [K, d_key]
    scores = cell.scores + (1 - cell.scale) * (k @ cell.q)  # [K]
    return float(scores[seen.open_keys].double().softmax(-1)[seen.strongest])


def truth(seen: Seen) -> int:
    change = _without(seen) - float(seen.weights[seen.strongest])
    return 1 if abs(change) < SAME else 2 * (change > 0)


def hint(seen: Seen, answer: Reply) -> str:
    root = 1 / seen.cell().scale
    return f"Every difference between two scores would be {root:.1f} times as large."


def explain(seen: Seen) -> str:
    now, then = percent_of(seen.weights[seen.strongest]), percent_of(_without(seen))
    return f"Without the scale it would get {then} instead of {now}."


TASK = Task(
    "unscaled",
    "choice",
    ask,
    truth,
    hint,
    explain,
    options=lambda seen: OPTIONS,
    needs=("scores", "scale"),
)
