"""Axes of a chart in points: where a value stands, and which numbers are beside it."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from viz.exhibits.chart import Axis, Chart, Curve, Mark, Point
from viz.paper.axes import N_TICKS, SPARE, nice, power, short


@dataclass(frozen=True)
class Scale:
    """An axis between two places; `low` and `high` are exponents of 10 where it is logarithmic."""

    axis: Axis
    low: float
    high: float
    start: float = 0.0
    end: float = 1.0
    """Points at `low` and at `high`."""

    def at(self, value: float) -> float:
        """Value -> points; NaN where it has no place."""
        return self._point(placed(value, self.axis.is_log))

    def ticks(self) -> list[tuple[float, str]]:
        """Points and texts of round numbers."""
        slack = 1e-9 * (self.high - self.low)
        return [
            (self._point(place), text)
            for place, text in self._round()
            if self.low - slack <= place <= self.high + slack
        ]

    def _point(self, place: float) -> float:
        share = (place - self.low) / ((self.high - self.low) or 1)
        return self.start + share * (self.end - self.start)

    def _round(self) -> list[tuple[float, str]]:
        if not self.axis.is_log:
            return [(value, short(value)) for value in nice(self.low, self.high)]
        exponents = range(math.ceil(self.low), math.floor(self.high) + 1)
        every = max(1, math.ceil(len(exponents) / N_TICKS))
        return [(float(each), power(each)) for each in exponents[::every]]


def placed(value: float, is_log: bool) -> float:
    """Where a value stands along its axis, before it is points."""
    if not is_log:
        return float(value)
    return math.log10(value) if value > 0 else math.nan


def scale_of(axis: Axis, values: Iterable[float]) -> Scale:
    """The axis from its own ends, or from the values along it; not yet in points."""
    if axis.ends is not None:
        low, high = (placed(each, axis.is_log) for each in axis.ends)
        return Scale(axis, low, high)
    places = [p for value in values if math.isfinite(p := placed(value, axis.is_log))]
    low, high = min(places, default=0.0), max(places, default=1.0)
    spare = SPARE * (high - low) or 0.5
    low, high = low - spare, high + spare
    if axis.from_zero:
        low = min(0.0, low) if low < -spare else 0.0
    return Scale(axis, low, high)


def scales(chart: Chart) -> tuple[Scale, Scale]:
    """Those of x and of y. Rules don't widen an axis, as on a screen."""
    x = scale_of(chart.x, [v for mark in chart.marks for v, _ in _points(mark)])
    return x, scale_of(chart.y, [v for mark in chart.marks for _, v in _points(mark)])


def _points(mark: Mark) -> list[tuple[float, float]]:
    if isinstance(mark, Curve):
        return list(zip(mark.x, mark.y, strict=True))
    return [(mark.x, mark.y)] if isinstance(mark, Point) else []
