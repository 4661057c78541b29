"""How does a row spread its weight? Points are put on the words, and scored in nats."""

from viz.lessons.seen import Seen
from viz.lessons.task import Given, Task, even, log_loss, percent_of, previous


def ask(seen: Seen) -> str:
    return f"Spread 100 points over the words that the row ‘{seen.row_word}’ may look at."


def truth(seen: Seen) -> tuple[float, ...]:
    return tuple(seen.weights.tolist())


def hint(seen: Seen, given: Given) -> str:
    assert isinstance(given, tuple)
    most = max(range(len(given)), key=given.__getitem__)
    got = percent_of(seen.weights[most])
    return f"‘{seen.words[most]}’, on which you put most, gets {got}. Spread them once more."


def explain(seen: Seen) -> str:
    most, weights = seen.strongest, truth(seen)
    parts = (
        f"an even guess costs {log_loss(weights, even(len(weights))):.2f} nats",
        f"“the previous word” {log_loss(weights, previous(seen)):.2f}",
        f"the weights themselves {log_loss(weights, [max(w, 1e-9) for w in weights]):.2f}",
    )
    got = percent_of(seen.weights[most])
    return f"‘{seen.words[most]}’ gets most, {got}. Here {', '.join(parts)}: less is better."


TASK = Task("spread", "spread", ask, truth, hint, explain)
