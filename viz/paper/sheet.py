"""The parts of a figure: boxes, cells, lines and words on a sheet, and what draws them."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from viz.components.kit.browser import unpack
from viz.exhibits.chart import POWER, by_root, root_law
from viz.labels import number
from viz.painters.shades import ink_on, palette_of
from viz.paper.typefaces import width

# The parts of a figure: boxes, cells, lines and words on a sheet, in points from its top left.
#
# A point is 1/72 inch. Every writer of files draws the same marks in the same order.

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


# The width of words in the figures' typefaces.

SMALL, NORMAL = 6.0, 7.0
"""Points: of what explains, and of words."""
MIDDLE = 0.36
"""Share of the size, from the baseline up to the middle of letters."""


def width_of(text: str, size: float = NORMAL, is_bold: bool = False) -> float:
    """In points; a character that no typeface has is as wide as it is high."""
    return size * width(text, is_bold)


def fitted(text: str, room: float, size: float = NORMAL, is_bold: bool = False) -> str:
    """Return the text, or as much of it as there is room for, and an ellipsis."""
    if width_of(text, size, is_bold) <= room:
        return text
    n = len(text) - 1
    while n > 0 and (_joins(text, n) or width_of(text[:n] + "…", size, is_bold) > room):
        n -= 1
    return text[:n] + "…"


def _joins(text: str, n: int) -> bool:
    """Tell whether the n-th character belongs to the one before it."""
    return text[n - 1] == "\u200d" or unicodedata.category(text[n]) in ("Mn", "Mc", "Me", "Cf")


_BETWEEN = re.compile(
    r"(?<=[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef])(?![\s”’）」』。，、：；？！.,:;?!)])"
)
"""Places where a line may end within Chinese and Japanese, which write no spaces."""


def broken(text: str, room: float, size: float = NORMAL) -> list[str]:
    """The text in lines of at most this width, broken between words."""
    lines: list[str] = []
    for word in text.split(" "):
        for i, part in enumerate(filter(None, _BETWEEN.split(word)) if word else [""]):
            longer = f"{lines[-1]}{' ' * (i == 0)}{part}" if lines else part
            if lines and width_of(longer, size) <= room:
                lines[-1] = longer
            else:
                lines.append(fitted(part, room, size))
    return lines


def is_leftward(text: str) -> bool:
    """Tell whether a text runs to the left: its first letter decides.

    >>> is_leftward("1. שלום"), is_leftward("a שלום"), is_leftward("1")
    (True, False, False)
    """
    kinds = map(unicodedata.bidirectional, text)
    return next((kind for kind in kinds if kind in ("L", "R", "AL")), "L") != "L"


# The declaration of a drawing of a figure, and the data that it draws.


@dataclass(frozen=True, eq=False)
class Data:
    """The data of a browser component: a figure shows the same numbers in the same state."""

    state: dict[str, Any]
    """Colours ("palette"), and what is chosen: heads, pins, a cell, a step."""
    header: dict[str, Any]
    arrays: list[NDArray[Any]]
    is_linear: bool = False
    """Numbers become colours evenly, not by their root."""

    def is_rooted(self, lens: Mapping[str, Any]) -> bool:
        """Tell whether values of a lens become colours by their root."""
        return lens["scale"] != "signed" and not self.is_linear

    @property
    def colours(self) -> dict[str, Any]:
        return dict(self.state["palette"])


@dataclass(frozen=True)
class Drawing:
    """One component's picture as a figure."""

    name: str
    """The name of the component."""
    draw: Callable[[Data, float], Sheet]
    """(what the browser is sent, width in points) -> the figure."""
    width: float
    """In inches, where none is said: one column of a paper, or two."""
    law: Callable[[Data], str] = lambda data: ""
    """The law by which its numbers become colours, as a sentence; empty: evenly, or by none."""


def read_data(data: bytes, is_linear: bool = False) -> Data:
    """Unpack what `Picture.data` gives."""
    state, (payload,) = unpack(data)
    header, arrays = unpack(payload.tobytes())
    return Data(state, header, arrays, is_linear)


def opened(array: NDArray[np.uint8]) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """A payload that is packed within another."""
    return unpack(array.tobytes())


# The scale beside a map, and marks that tell its values apart without colour.

BAR = 5.0
"""Points that the scale is high."""
LEAST = 3.5
"""Points of a cell's side below which a mark in it would only be dirt."""
FAINT = 0.08
"""Share of the scale's end: cells as near to 0 are almost the ground, whatever their sign."""
Place = tuple[float, float, float, float]
"""Left and top of a map, width and height of a cell."""


def scale_bar(
    data: Data, width: float, bounds: tuple[float, float], lens: dict[str, Any] | None = None
) -> tuple[list[Mark], float]:
    """The scale with its numbers and what it measures, and how high both are together."""
    lens = lens or data.header["lens"]
    is_signed, colours = lens["scale"] == "signed", data.colours
    is_rooted = data.is_rooted(lens)
    scale = data.state["difference"] if is_signed else colours["scale"]
    n = 64
    steps = np.rint(np.linspace(0, 255, n)).astype(np.int16)[None]
    bar = min(width, 110.0)
    marks: list[Mark] = [
        Cells(0, 0, bar, BAR, steps, palette_of(scale, colours["masked"])),
        Box(0, 0, bar, BAR, None, colours["dim"], 0.4),
    ]
    low, high = bounds
    for share in (0.0, 0.5, 1.0):
        value = low + (high - low) * (share**POWER if is_rooted else share)
        anchor: Any = {0.0: "start", 0.5: "middle", 1.0: "end"}[share]
        marks.append(
            Words(share * bar, BAR + SMALL + 1.5, _end(value), SMALL, colours["dim"], anchor)
        )
    title = by_root(lens["title"]) if is_rooted else lens["title"]
    if bar + 6 + width_of(title, SMALL) <= width:
        marks.append(Words(bar + 6, BAR, title, SMALL, colours["text"]))
        return marks, BAR + SMALL + 4
    y = BAR + SMALL + 2
    for line in broken(title, width, SMALL):
        y += SMALL + 2
        marks.append(Words(0, y, line, SMALL, colours["text"]))
    return marks, y + 3


def law_of_map(data: Data) -> str:
    """The law by which the numbers of its map become colours, for a caption."""
    lens = data.header["lens"]
    return root_law(lens["title"]) if data.is_rooted(lens) else ""


def _end(value: float) -> str:
    """Write a number with two digits that count.

    >>> _end(0.25), _end(-3.14159), _end(1.0), _end(0.0), _end(120.4)
    ('0.25', '−3.1', '1', '0', '120')
    """
    return number(value, 0) if abs(value) >= 100 else number(value, 2, "g")


def hatched(masked: NDArray[np.bool_], place: Place, colour: str) -> list[Mark]:
    """A stroke through each masked cell: told apart by more than its colour."""
    left, top, width, height = place
    if not masked.any() or min(width, height) < LEAST:
        return []
    parts = tuple(
        (
            (left + (column + 0.2) * width, top + (row + 0.8) * height),
            (left + (column + 0.8) * width, top + (row + 0.2) * height),
        )
        for row, column in np.argwhere(masked)
    )
    return [Line(parts, colour, 0.25, 0.6)]


def minus_marks(
    values: NDArray[np.floating[Any]], place: Place, colours: dict[str, Any], end: float
) -> list[Mark]:
    """A bar in each cell that is seen to be below 0: both ends of the scale are equally dark
    without colour. end: of the scale.
    """
    left, top, width, height = place
    if min(width, height) < LEAST:
        return []
    parts = tuple(
        (
            (left + (column + 0.3) * width, top + (row + 0.5) * height),
            (left + (column + 0.7) * width, top + (row + 0.5) * height),
        )
        for row, column in np.argwhere(np.nan_to_num(values) < -FAINT * end)
    )
    under = [Line(parts, ink_on(colours["text"]), 1.1), Line(parts, colours["text"], 0.45)]
    return list(under) if parts else []
