"""The parts of a figure: boxes, cells, lines and words on a sheet, in points from its top left.

A point is 1/72 inch. Every writer of files draws the same marks in the same order.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

INCH = 72.0
"""Points of an inch."""
Point = tuple[float, float]
Facts = Mapping[str, Any]
"""Numbers and texts that a mark stands for, kept beside it in SVG."""


@dataclass(frozen=True)
class Box:
    """A rectangle: filled, framed, or both."""

    x: float
    y: float
    width: float
    height: float
    fill: str | None = None
    frame: str | None = None
    thick: float = 0.5
    """Points of the frame."""
    opacity: float = 1.0
    facts: Facts = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Cells:
    """A map: rows and columns of equal cells, each in one of a few colours."""

    x: float
    y: float
    width: float
    height: float
    levels: NDArray[np.integer[Any]]
    """[R, C]: the number of each cell's colour; a negative one is left empty."""
    colours: tuple[str, ...]
    facts: Facts = field(default_factory=dict)


@dataclass(frozen=True)
class Line:
    """Lines of one look: each through its points, straight or as one curve with level ends."""

    parts: tuple[tuple[Point, ...], ...]
    colour: str
    thick: float = 0.5
    opacity: float = 1.0
    dashes: tuple[float, ...] = ()
    """Lengths of strokes and gaps; empty: a line without gaps."""
    is_curve: bool = False
    facts: Facts = field(default_factory=dict)


@dataclass(frozen=True)
class Words:
    """One line of text, on its baseline."""

    x: float
    y: float
    text: str
    size: float
    colour: str
    anchor: Literal["start", "middle", "end"] = "start"
    is_bold: bool = False
    is_upward: bool = False
    """It runs from the bottom to the top."""
    facts: Facts = field(default_factory=dict)


Mark = Box | Cells | Line | Words


@dataclass(frozen=True, eq=False)
class Sheet:
    """A figure, ready to be written."""

    width: float
    height: float
    background: str
    marks: tuple[Mark, ...]


def moved(marks: Iterable[Mark], x: float, y: float) -> list[Mark]:
    """The same marks further to the right and down."""
    return [_moved(mark, x, y) for mark in marks]


def _moved(mark: Mark, x: float, y: float) -> Mark:
    if isinstance(mark, Line):
        parts = tuple(tuple((a + x, b + y) for a, b in part) for part in mark.parts)
        return replace(mark, parts=parts)
    return replace(mark, x=mark.x + x, y=mark.y + y)
