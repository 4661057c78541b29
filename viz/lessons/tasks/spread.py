"""The task to spread a row's weight: points are put on the words, and scored in nats."""

import math
from collections.abc import Sequence

from viz.lessons.subject import Subject
from viz.lessons.task import Reply, Task, even, log_loss, percent_of, previous

MOST = 24
"""Fields for points; of a longer row neighbours share one."""


def ask(subject: Subject) -> str:
    together = "" if len(_spans(subject)) == len(subject.words) else ", neighbours together"
    return (
        f"Spread 100 points over the words that the row ‘{subject.row_word}’ may look at{together}."
    )


def _spans(subject: Subject) -> list[slice]:
    """The words of each field, as few together as there can be."""
    n = len(subject.words)
    size = max(1, math.ceil(n / MOST))
    return [slice(first, min(first + size, n)) for first in range(0, n, size)]


def _summed(shares: Sequence[float], subject: Subject) -> tuple[float, ...]:
    return tuple(math.fsum(shares[span]) for span in _spans(subject))


def options(subject: Subject) -> tuple[str, ...]:
    words = [subject.words[span] for span in _spans(subject)]
    return tuple(each[0] if len(each) == 1 else f"{each[0]} … {each[-1]}" for each in words)


def truth(subject: Subject) -> tuple[float, ...]:
    return _summed(subject.weights.tolist(), subject)


def hint(subject: Subject, answer: Reply) -> str:
    assert isinstance(answer, tuple)
    most = max(range(len(answer)), key=answer.__getitem__)
    got = percent_of(truth(subject)[most])
    word = options(subject)[most]
    return f"‘{word}’, on which you put most, gets {got}. Spread your points once more."


def explain(subject: Subject) -> str:
    weights = truth(subject)
    most = max(range(len(weights)), key=weights.__getitem__)
    before = _summed(previous(subject), subject)
    word = options(subject)[max(range(len(before)), key=before.__getitem__)]
    parts = (
        f"an even guess costs {log_loss(weights, even(len(weights))):.2f} nats",
        f"all points on ‘{word}’ (the place before its own) {log_loss(weights, before):.2f}",
        f"the weights themselves {log_loss(weights, [max(w, 1e-9) for w in weights]):.2f}",
    )
    got = percent_of(weights[most])
    return f"‘{options(subject)[most]}’ gets most, {got}. Here {', '.join(parts)}: less is better."


TASK = Task("spread", "spread", ask, truth, hint, explain, options=options)
