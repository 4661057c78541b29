"""The task about the turn of a pair of dimensions when a word moves."""

import math

from torch import Tensor

from transformer.positions.encodings import find_pairs, shift
from viz.lessons.seen import Seen
from viz.lessons.task import Reply, Task


def ask(seen: Seen) -> str:
    return (
        f"One sine and its cosine turn once in {_wave(seen):.2f} positions. By how many degrees do "
        f"they turn within {seen.arguments[0]} positions{_shorter(seen)}?"
    )


def _shorter(seen: Seen) -> str:
    """Return a clause where a turn is known by the shorter way only."""
    is_beyond = seen.arguments[0] / _wave(seen) > 0.5
    return ", counted the shorter way" if is_beyond else ""


def _table(seen: Seen) -> Tensor:
    """The encodings of the first side that has sinusoids [P, D]."""
    sides = seen.recording.positions.values()
    return next(side.table for side in sides if find_pairs(side.table) is not None)


def _pair(seen: Seen) -> int:
    """The pair of dimensions whose wave fits the sentence best."""
    pairs = find_pairs(_table(seen))
    assert pairs is not None
    return int((pairs.wavelengths.log() - math.log(len(seen.attention.keys))).abs().argmin())


def _wave(seen: Seen) -> float:
    pairs = find_pairs(_table(seen))
    assert pairs is not None
    return float(pairs.wavelengths[_pair(seen)])


def truth(seen: Seen) -> float:
    table = _table(seen)
    result = shift(table, seen.arguments[0] % len(table))
    assert result is not None
    return math.degrees(float(result.angles[_pair(seen)].abs()))


def hint(seen: Seen, answer: Reply) -> str:
    once = 360 / _wave(seen)
    return f"360° take {_wave(seen):.2f} positions: one position turns it by {once:.1f}°."


def explain(seen: Seen) -> str:
    return (
        f"360° · {seen.arguments[0]} / {_wave(seen):.2f}{_shorter(seen)}: {truth(seen):.0f}°. "
        "It is the same angle wherever the word stands."
    )


def opens(seen: Seen) -> dict[str, object]:
    return {"controls": (("offset", str(seen.arguments[0])),)}


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
