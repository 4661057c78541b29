"""The task to name the word that a row looks at most."""

from viz.lessons.seen import Seen
from viz.lessons.task import Reply, Task, percent_of


def ask(seen: Seen) -> str:
    return f"Which word does the row ‘{seen.row_word}’ look at most?"


def truth(seen: Seen) -> int:
    return seen.strongest


def hint(seen: Seen, answer: Reply) -> str:
    assert isinstance(answer, int)
    side = "before" if seen.strongest < answer else "after"
    got = percent_of(seen.weights[answer])
    return (
        f"‘{seen.words[answer]}’ gets {got} of the row. The word that gets most stands {side} it."
    )


def explain(seen: Seen) -> str:
    most = seen.strongest
    got = percent_of(seen.weights[most])
    is_own = not seen.attention.is_cross and seen.open_keys[most] == seen.place.query
    word = "itself" if is_own else f"‘{seen.words[most]}’"
    return f"‘{seen.row_word}’ looks at {word} with {got} of its weight."


TASK = Task("strongest", "word", ask, truth, hint, explain)
