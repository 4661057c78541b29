"""The task about the turn of a pair of dimensions when a word moves."""

import math

from torch import Tensor

from transformer.positions.encodings import find_pairs, shift
from viz.lessons.subject import Subject
from viz.lessons.task import Reply, Task


def ask(subject: Subject) -> str:
    return (
        f"One sine and its cosine turn once in {_wave(subject):.2f} positions. By how many degrees "
        f"do they turn within {subject.arguments[0]} positions{_shorter(subject)}?"
    )


def _shorter(subject: Subject) -> str:
    """Return a clause where a turn is known by the shorter way only."""
    is_beyond = subject.arguments[0] / _wave(subject) > 0.5
    return ", counted the shorter way" if is_beyond else ""


def _table(subject: Subject) -> Tensor:
    """The encodings of the first side that has sinusoids [P, D]."""
    sides = subject.recording.positions.values()
    return next(side.table for side in sides if find_pairs(side.table) is not None)


def _pair(subject: Subject) -> int:
    """The pair of dimensions whose wave fits the sentence best."""
    pairs = find_pairs(_table(subject))
    assert pairs is not None
    return int((pairs.wavelengths.log() - math.log(len(subject.attention.keys))).abs().argmin())


def _wave(subject: Subject) -> float:
    pairs = find_pairs(_table(subject))
    assert pairs is not None
    return float(pairs.wavelengths[_pair(subject)])


def truth(subject: Subject) -> float:
    table = _table(subject)
    result = shift(table, subject.arguments[0] % len(table))
    assert result is not None
    return math.degrees(float(result.angles[_pair(subject)].abs()))


def hint(subject: Subject, answer: Reply) -> str:
    once = 360 / _wave(subject)
    return f"360° take {_wave(subject):.2f} positions: one position turns it by {once:.1f}°."


def explain(subject: Subject) -> str:
    fraction = f"{subject.arguments[0]} / {_wave(subject):.2f}"
    return (
        f"360° · {fraction}{_shorter(subject)}: {truth(subject):.0f}°. "
        "It is the same angle wherever the word stands."
    )


def opens(subject: Subject) -> dict[str, object]:
    return {"controls": (("offset", str(subject.arguments[0])),)}


TASK = Task(
    "turn",
    "number",
    ask,
    truth,
    hint,
    explain,
    unit="degrees",
    takes=("positions",),
    needs=("sinusoids",),
    of_row=False,
    opens=opens,
)
