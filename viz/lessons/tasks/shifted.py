"""The task about a head whose words all move by as many positions."""

from collections.abc import Iterator

from torch import Tensor

from transformer.edits import Edit
from transformer.recording import Recording
from transformer.recording.ours import record
from viz.lessons.subject import Subject
from viz.lessons.task import Reply, Task, percent_of, result_of

BOUNDS = (0.05, 0.25)
"""Shares of the weight between which the options are."""


def ask(subject: Subject) -> str:
    return (
        f"All words move {subject.arguments[0]} positions on. How much of the weight of "
        f"{subject.head_name} lands on other words than before?"
    )


def options(subject: Subject) -> tuple[str, ...]:
    low, high = map(percent_of, BOUNDS)
    return (f"less than {low}", f"{low} to {high}", f"more than {high}")


def run(subject: Subject, before: Recording | None) -> Iterator[Recording]:
    """The model again, with all words moved."""
    by = subject.arguments[0]
    edits = [Edit("positions-shift", side, (), (by,)) for side in subject.recording.positions]
    with subject.turn():
        recording = record(
            subject.checkpoint, subject.text, subject.recording.target or None, edits
        )
    yield recording


def moved(subject: Subject) -> Tensor:
    """The share of each row's weight that is elsewhere [Q]."""
    place, recording = subject.place, result_of(subject, run)
    after: Tensor = recording.attentions[place.kind].weights(place.layer, place.head)
    before = subject.attention.weights(place.layer, place.head)
    return (after - before).abs().sum(-1) / 2


def truth(subject: Subject) -> int:
    return sum(float(moved(subject).mean()) >= bound for bound in BOUNDS)


def hint(subject: Subject, answer: Reply) -> str:
    got = percent_of(moved(subject)[subject.place.query])
    return f"In the row ‘{subject.row_word}’ it is {got}; the mean of all rows is asked."


def explain(subject: Subject) -> str:
    return f"{percent_of(moved(subject).mean())} of its weight lands elsewhere, mean over all rows."


TASK = Task(
    "shifted",
    "choice",
    ask,
    truth,
    hint,
    explain,
    options=options,
    takes=("positions",),
    needs=("sinusoids", "room"),
    of_sentence=False,
    run=run,
    of_row=False,
)
