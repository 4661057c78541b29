"""The task to name the word that the model was least sure of when it wrote."""

from viz.lessons.subject import Subject, named
from viz.lessons.sureness import sureness
from viz.lessons.task import Reply, Task, percent_of


def ask(subject: Subject) -> str:
    return "Which word was the model least sure of when it wrote?"


def options(subject: Subject) -> tuple[str, ...]:
    return named(subject.recording.target)


def truth(subject: Subject) -> int:
    return int(sureness(subject.recording).argmin())


def hint(subject: Subject, answer: Reply) -> str:
    assert isinstance(answer, int)
    got = percent_of(sureness(subject.recording)[answer])
    return f"It gave ‘{options(subject)[answer]}’ {got}. Where could it have chosen another word?"


def explain(subject: Subject) -> str:
    least = truth(subject)
    got, mean = (
        percent_of(sureness(subject.recording)[least]),
        percent_of(sureness(subject.recording).mean()),
    )
    return f"‘{options(subject)[least]}’ had {got}; the mean of all tokens is {mean}."


def opens(subject: Subject) -> dict[str, object]:
    return {"step": truth(subject)}


TASK = Task(
    "least_sure",
    "word",
    ask,
    truth,
    hint,
    explain,
    options=options,
    needs=("writes",),
    of_writing=True,
    of_row=False,
    opens=opens,
)
