"""The task to name the word that a row looks at most."""

from viz.lessons.subject import Subject
from viz.lessons.task import Reply, Task, percent_of


def ask(subject: Subject) -> str:
    return f"Which word does the row ‘{subject.row_word}’ look at most?"


def truth(subject: Subject) -> int:
    return subject.strongest


def hint(subject: Subject, answer: Reply) -> str:
    assert isinstance(answer, int)
    side = "before" if subject.strongest < answer else "after"
    got = percent_of(subject.weights[answer])
    word = subject.words[answer]
    return f"‘{word}’ gets {got} of the row. The word that gets most stands {side} it."


def explain(subject: Subject) -> str:
    most = subject.strongest
    got = percent_of(subject.weights[most])
    is_own = not subject.attention.is_cross and subject.place.query in subject.groups[most]
    word = "itself" if is_own else f"‘{subject.words[most]}’"
    return f"‘{subject.row_word}’ looks at {word} with {got} of its weight."


TASK = Task("strongest", "word", ask, truth, hint, explain)
