"""Axes of a chart in points: where a value stands, and which numbers or labels are beside it."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer.visible import visible
from viz.exhibits.chart import Axis, Bars, Chart, Curve, Mark, Point
from viz.labels import label, number

N_TICKS = 5
"""At most about so many, where an axis names none."""
SPARE = 0.04
"""Share of the range, free at both ends of curves."""


@dataclass(frozen=True)
class Scale:
    """An axis between two places; `low` and `high` are exponents of 10 where it is logarithmic."""

    axis: Axis
    low: float
    high: float
    start: float = 0.0
    end: float = 1.0
    """Points at `low` and at `high`."""

    def at(self, values: Any) -> NDArray[np.float64]:
        """Values -> points; NaN where one has no place."""
        return self._points(placed(values, self.axis.is_log))

    def ticks(self) -> list[tuple[float, str]]:
        """Points and texts, those within its range."""
        low, high = sorted((self.low, self.high))
        slack = 1e-9 * (high - low)
        return [
            (float(self._points(place)), text)
            for place, text in (self._ticks(low, high) if self.axis.is_labelled else ())
            if low - slack <= place <= high + slack
        ]

    def _points(self, places: Any) -> Any:
        share = (places - self.low) / ((self.high - self.low) or 1)
        return self.start + share * (self.end - self.start)

    def _ticks(self, low: float, high: float) -> list[tuple[float, str]]:
        axis = self.axis
        if axis.ticks:
            return [(float(placed(at, axis.is_log)), visible(it)) for at, it in axis.ticks]
        if axis.labels:
            every = -(-len(axis.labels) // axis.most_labels)
            texts = [visible(it) if isinstance(it, str) else label(it) for it in axis.labels]
            return [(float(place), text) for place, text in enumerate(texts)][::every]
        if not axis.is_log:
            return [(value, short(value)) for value in nice(low, high)]
        exponents = range(math.ceil(low), math.floor(high) + 1)
        return [
            (float(it), power(it)) for it in exponents[:: max(1, -(-len(exponents) // N_TICKS))]
        ]


def placed(values: Any, is_log: bool) -> NDArray[np.float64]:
    """Return the places of values along an axis, not yet in points: [N], or one."""
    places = np.asarray(values, np.float64)
    return np.log10(np.where(places > 0, places, math.nan)) if is_log else places


def scales(chart: Chart) -> tuple[Scale, Scale]:
    """Return the scales of x and of y, not yet in points."""
    if chart.size is not None:
        (left, right), (bottom, top) = chart.edges
        return Scale(chart.x, left, right), Scale(chart.y, bottom, top)
    x = _scale(chart.x, [_along(mark)[0] for mark in chart.marks])
    if chart.n_bars:
        return x, Scale(chart.y, chart.n_bars - 0.5, -0.5)
    return x, _scale(chart.y, [_along(mark)[1] for mark in chart.marks])


def _scale(axis: Axis, values: Iterable[NDArray[np.float64]]) -> Scale:
    """The axis from its own ends, or from the values along it."""
    if axis.ends is not None:
        return Scale(axis, *(float(placed(each, axis.is_log)) for each in axis.ends))
    every = placed(np.concatenate([np.zeros(0), *values]), axis.is_log)
    places = every[np.isfinite(every)]
    low, high = (float(places.min()), float(places.max())) if places.size else (0.0, 1.0)
    spare = SPARE * (high - low) or 0.5
    low, high = low - spare, high + spare
    if axis.from_zero:
        low = min(0.0, low) if low < -spare else 0.0
    return Scale(axis, low, high)


def _along(mark: Mark) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Values along x and y that an axis has room for. Rules don't widen it, as on a screen."""
    if isinstance(mark, Curve):
        return np.asarray(mark.x, np.float64), np.asarray(mark.y, np.float64)
    if isinstance(mark, Point):
        return np.array([mark.x]), np.array([mark.y])
    if isinstance(mark, Bars):
        at, values = np.asarray(mark.at, np.float64), np.array([0.0, *mark.values])
        half = 0.5 * float(np.diff(at).min(initial=1.0)) * mark.width
        ends = np.array([at.min(initial=0.0) - half, at.max(initial=0.0) + half])
        return (values, at) if mark.is_level else (ends, values)
    return np.zeros(0), np.zeros(0)


def nice(low: float, high: float) -> list[float]:
    """Round numbers at even distances, a few of them.

    >>> nice(0, 1), nice(-3, 12)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.0, 5.0, 10.0])
    """
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return []
    raw = (high - low) / N_TICKS
    unit = 10 ** math.floor(math.log10(raw))
    step = next(each * unit for each in (1, 2, 5, 10) if each * unit >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(i * step, 12) + 0.0 for i in range(first, math.floor(high / step + 1e-9) + 1)]


def short(value: float) -> str:
    """A tick's number.

    >>> short(0.25), short(-12000.0), short(1e-6)
    ('0.25', '−12,000', '1e−06')
    """
    is_whole = abs(value) >= 1000 and value == int(value)
    return number(value, 0, ",f") if is_whole else number(value, 4, "g")


def power(exponent: int) -> str:
    """10 to a power, as short as it can be read.

    >>> power(0), power(3), power(-5)
    ('1', '1,000', '10⁻⁵')
    """
    if -3 <= exponent <= 4:
        return short(10.0**exponent)
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
