"""Axes of a figure of Plotly's in points: where a value stands, and what is written there."""

import html
import math
import re
from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
N_TICKS = 5
"""At most about so many, where the figure names none."""
SPARE = 0.04
"""Of the range, free at both ends of curves."""


@dataclass(frozen=True, eq=False)
class Axis:
    """One axis: its range in values (exponents of 10 where it is logarithmic) and in points."""

    said: Mapping[str, Any]
    """As Plotly is told."""
    low: float
    high: float
    start: float
    """Where `low` stands, in points; `high` stands at `end`, which may come first."""
    end: float
    names: Sequence[str] = ()
    """Of categories, which stand at 0, 1, ..."""

    def at(self, values: Any) -> Numbers:
        """Values -> points; not a number stays so."""
        places = self.places(values)
        share = (places - self.low) / ((self.high - self.low) or 1)
        found: Numbers = self.start + share * (self.end - self.start)
        return found

    def places(self, values: Any) -> Numbers:
        """Values, categories or dates of one axis as numbers."""
        return numbers(values, self.names, self.said.get("type") == "log")

    def ticks(self) -> list[tuple[float, str]]:
        """Points and texts; those outside of the range are left out."""
        if self.said.get("visible") is False or self.said.get("showticklabels") is False:
            return []
        low, high = sorted((self.low, self.high))
        known = self._named() if self.said.get("tickvals") is not None else self._found(low, high)
        slack = 1e-9 * (high - low)
        inside = [(v, t) for v, t in known if low - slack <= v <= high + slack]
        return [(self._point(value), text) for value, text in inside]

    def _point(self, place: float) -> float:
        share = (place - self.low) / ((self.high - self.low) or 1)
        return self.start + share * (self.end - self.start)

    def _named(self) -> list[tuple[float, str]]:
        values = self.places(self.said["tickvals"])
        texts = self.said.get("ticktext")
        said = map(plain, texts) if texts is not None else map(short, values)
        return list(zip(values.tolist(), said, strict=False))

    def _found(self, low: float, high: float) -> list[tuple[float, str]]:
        if self.names:
            return [(float(i), plain(name)) for i, name in enumerate(self.names)]
        if self.said.get("type") == "log":
            exponents = range(math.ceil(low), math.floor(high) + 1)
            every = max(1, math.ceil(len(exponents) / N_TICKS))
            return [(float(e), power(e)) for e in exponents[::every]]
        return [(value, short(value)) for value in nice(low, high)]


def numbers(values: Any, names: Sequence[str], is_log: bool) -> Numbers:
    """As an axis places them: categories by their order, logarithms of what is above 0."""
    if names:
        order = {name: i for i, name in enumerate(names)}
        return np.array([order.get(str(each), math.nan) for each in values], np.float64)
    found = np.array([math.nan if each is None else each for each in values], np.float64)
    if is_log:
        found = np.log10(np.where(found > 0, found, math.nan))
    return found


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
    text = f"{value:,.0f}" if abs(value) >= 1000 and value == int(value) else f"{value:.4g}"
    return text.replace("-", "−")


def power(exponent: int) -> str:
    """10 to a power, as short as it can be read.

    >>> power(0), power(3), power(-5)
    ('1', '1,000', '10⁻⁵')
    """
    if -3 <= exponent <= 4:
        return short(10.0**exponent)
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def plain(text: Any) -> str:
    """What Plotly writes of a text: without its tags, and with what was escaped as it was."""
    return html.unescape(re.sub(r"<[^<>]*>", "", re.sub(r"<br ?/?>", " ", str(text or ""))))


def decoded(said: Any) -> Any:
    """What Plotly writes of a figure, with its packed arrays opened."""
    if isinstance(said, Mapping):
        if "bdata" in said:
            found = np.frombuffer(b64decode(said["bdata"]), said["dtype"])
            shape = str(said.get("shape", "-1"))
            return found.reshape([int(each) for each in shape.split(",")])
        return {name: decoded(each) for name, each in said.items()}
    if isinstance(said, list | tuple):
        return [decoded(each) for each in said]
    return said


def finite(parts: Iterable[Numbers]) -> Numbers:
    """All numbers of several lists that are some."""
    found = [each[np.isfinite(each)] for each in parts]
    return np.concatenate(found) if found else np.zeros(0)
