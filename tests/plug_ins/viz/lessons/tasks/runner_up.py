"""The task to name the word that a row looks at second."""

from viz.lessons.subject import Subject
from viz.lessons.task import Reply, Task, percent_of


def ask(subject: Subject) -> str:
    return f"Which word does the row ‘{subject.row_word}’ look at second?"


def truth(subject: Subject) -> int:
    return int(subject.weights.argsort(descending=True)[:2][-1])


def hint(subject: Subject, reply: Reply) -> str:
    return f"The first one gets {percent_of(subject.weights.max())}: which comes next?"


def explain(subject: Subject) -> str:
    second = truth(subject)
    return f"‘{subject.words[second]}’ gets {percent_of(subject.weights[second])}."


TASK = Task("runner_up", "word", ask, truth, hint, explain)
