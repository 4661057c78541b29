"""Numbers over the steps of a training run, and the axes of a chart of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from viz.exhibits.chart import Axis


@dataclass(frozen=True)
class OverSteps:
    """One value per step."""

    name: str
    steps: tuple[int, ...]
    values: tuple[float, ...]


def saved(history: Sequence[Mapping[str, float]], field: str, name: str) -> OverSteps:
    """A field of a checkpoint's history; most rows lack most fields."""
    rows = [row for row in history if field in row]
    steps, values = tuple(int(row["step"]) for row in rows), tuple(row[field] for row in rows)
    return OverSteps(name, steps, values)


def steps_to(last: int, log: bool) -> Axis:
    """The horizontal axis from the first step to the last; hovering says the step in full."""
    ends = (1, 1.2 * max(1, last)) if log else (0, 1.02 * last)
    return Axis("step", log, ends, format=",d", hover="step {x:,d}")
