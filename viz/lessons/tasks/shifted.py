"""The task about a head whose words all move by as many positions."""

from collections.abc import Iterator

from torch import Tensor

from transformer.edits import Edit
from transformer.recording import Recording
from transformer.recording.ours import record
from viz.lessons.seen import Seen
from viz.lessons.task import Reply, Task, percent_of, result_of

BOUNDS = (0.05, 0.25)
"""Shares of the weight between which the options are."""


def ask(seen: Seen) -> str:
    return (
        f"All words move {seen.arguments[0]} positions on. How much of the weight of "
        f"{seen.head_name} lands on other words than before?"
    )


def options(seen: Seen) -> tuple[str, ...]:
    low, high = map(percent_of, BOUNDS)
    return (f"less than {low}", f"{low} to {high}", f"more than {high}")


def run(seen: Seen, before: Recording | None) -> Iterator[Recording]:
    """The model again, with all words moved."""
    by = seen.arguments[0]
    edits = [Edit("positions-shift", side, (), (by,)) for side in seen.recording.positions]
    with seen.turn():
        recording = record(seen.checkpoint, seen.text, seen.recording.target or None, edits)
    yield recording


def moved(seen: Seen) -> Tensor:
    """The share of each row's weight that is elsewhere [Q]."""
    place, recording = seen.place, result_of(seen, run)
    after: Tensor = recording.attentions[place.kind].weights(place.layer, place.head)
    before = seen.attention.weights(place.layer, place.head)
    return (after - before).abs().sum(-1) / 2


def truth(seen: Seen) -> int:
    return sum(float(moved(seen).mean()) >= bound for bound in BOUNDS)


def hint(seen: Seen, answer: Reply) -> str:
    got = percent_of(moved(seen)[seen.place.query])
    return f"In the row ‘{seen.row_word}’ it is {got}; the mean of all rows is asked."


def explain(seen: Seen) -> str:
    return f"{percent_of(moved(seen).mean())} of its weight lands elsewhere, mean over all rows."


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
