"""The task to spread a row's weight: points are put on the words, and scored in nats."""

import math
from collections.abc import Sequence

from viz.lessons.seen import Seen
from viz.lessons.task import Reply, Task, even, log_loss, percent_of, previous

MOST = 24
"""Fields for points; of a longer row neighbours share one."""


def ask(seen: Seen) -> str:
    together = "" if len(_spans(seen)) == len(seen.words) else ", neighbours together"
    return f"Spread 100 points over the words that the row ‘{seen.row_word}’ may look at{together}."


def _spans(seen: Seen) -> list[slice]:
    """The words of each field, as few together as there can be."""
    n = len(seen.words)
    size = max(1, math.ceil(n / MOST))
    return [slice(first, min(first + size, n)) for first in range(0, n, size)]


def _summed(shares: Sequence[float], seen: Seen) -> tuple[float, ...]:
    return tuple(math.fsum(shares[span]) for span in _spans(seen))


def options(seen: Seen) -> tuple[str, ...]:
    words = [seen.words[span] for span in _spans(seen)]
    return tuple(each[0] if len(each) == 1 else f"{each[0]} … {each[-1]}" for each in words)


def truth(seen: Seen) -> tuple[float, ...]:
    return _summed(seen.weights.tolist(), seen)


def hint(seen: Seen, answer: Reply) -> str:
    assert isinstance(answer, tuple)
    most = max(range(len(answer)), key=answer.__getitem__)
    got = percent_of(truth(seen)[most])
    word = options(seen)[most]
    return f"‘{word}’, on which you put most, gets {got}. Spread your points once more."


def explain(seen: Seen) -> str:
    weights = truth(seen)
    most = max(range(len(weights)), key=weights.__getitem__)
    before = _summed(previous(seen), seen)
    parts = (
        f"an even guess costs {log_loss(weights, even(len(weights))):.2f} nats",
        f"all points on the word one place before {log_loss(weights, before):.2f}",
        f"the weights themselves {log_loss(weights, [max(w, 1e-9) for w in weights]):.2f}",
    )
    got = percent_of(weights[most])
    return f"‘{options(seen)[most]}’ gets most, {got}. Here {', '.join(parts)}: less is better."


TASK = Task("spread", "spread", ask, truth, hint, explain, options=options)
