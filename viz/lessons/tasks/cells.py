"""The task to count the weights of one head."""

from viz.labels import kind_name
from viz.lessons.subject import Subject
from viz.lessons.task import Reply, Task


def ask(subject: Subject) -> str:
    return f"How many weights does one head of {kind_name(subject.place.kind)} have here?"


def material(subject: Subject) -> tuple[tuple[str, str], ...]:
    attention = subject.attention
    return (("queries", str(len(attention.queries))), ("keys", str(len(attention.keys))))


def truth(subject: Subject) -> int:
    return int(subject.attention.weights(subject.place.layer, subject.place.head).numel())


def hint(subject: Subject, answer: Reply) -> str:
    return f"Each query ({len(subject.attention.queries)}) has a weight for every key."


def explain(subject: Subject) -> str:
    attention = subject.attention
    n_rows, n_columns = len(attention.queries), len(attention.keys)
    heads = attention.n_layers * attention.n_heads
    return f"{n_rows} × {n_columns} = {truth(subject):,}, in each head of this kind ({heads})."


TASK = Task("cells", "number", ask, truth, hint, explain, material, of_row=False, of_tokens=True)
