"""The task to name the word that the model was least sure of when it wrote."""

from viz.lessons.seen import Seen, named
from viz.lessons.sureness import sureness
from viz.lessons.task import Reply, Task, percent_of


def ask(seen: Seen) -> str:
    return "Which word was the model least sure of when it wrote?"


def options(seen: Seen) -> tuple[str, ...]:
    return named(seen.recording.target)


def truth(seen: Seen) -> int:
    return int(sureness(seen.recording).argmin())


def hint(seen: Seen, answer: Reply) -> str:
    assert isinstance(answer, int)
    got = percent_of(sureness(seen.recording)[answer])
    return f"It gave ‘{options(seen)[answer]}’ {got}. Where could it have chosen another word?"


def explain(seen: Seen) -> str:
    least = truth(seen)
    got, mean = (
        percent_of(sureness(seen.recording)[least]),
        percent_of(sureness(seen.recording).mean()),
    )
    return f"‘{options(seen)[least]}’ had {got}; the mean of all tokens is {mean}."


def opens(seen: Seen) -> dict[str, object]:
    return {"step": truth(seen)}


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
