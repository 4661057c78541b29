"""A figure for a paper: what it is drawn from, what it carries, and the files it becomes."""

from collections.abc import Callable
from dataclasses import dataclass

import plotly.graph_objects as go

from transformer.discover import discover
from viz.paper.drawing import Drawing, given
from viz.paper.plotted import plotted
from viz.paper.printed import pdf, png
from viz.paper.record import FigureError, Record
from viz.paper.sheet import INCH, Sheet, moved
from viz.paper.svg import svg

COLUMN, PAGE = 3.3, 6.9
"""Inches: of one column of a paper, and of two."""
MARGIN = 3.0
"""Points around a figure: lines and letters reach a little beyond their places."""
NARROWEST, WIDEST = 2.0, 20.0
KINDS = {"svg": svg, "pdf": pdf, "png": png}


@dataclass(frozen=True, eq=False)
class Figure:
    """A picture as files. The same figure gives the same bytes."""

    draw: Callable[[float], Sheet]
    """Width in points -> what is drawn."""
    record: Record
    width: float = COLUMN
    """In inches, where none is said."""

    def file(self, kind: str, width: float | None = None) -> bytes:
        """kind: "svg", "pdf" or "png"; width: in inches. Raises FigureError."""
        if kind not in KINDS:
            raise FigureError(f"There is no figure as {kind}: there is {', '.join(KINDS)}.")
        inches = self.width if width is None else width
        if not NARROWEST <= inches <= WIDEST:
            raise FigureError(
                f"A figure is {NARROWEST:g} to {WIDEST:g} inches wide; a column has {COLUMN}."
            )
        said = self.record
        return KINDS[kind](self.sheet(inches), said.title, said.caption, said.state)

    def sheet(self, inches: float) -> Sheet:
        """What is drawn at this width, with a margin around it."""
        inner = self.draw(inches * INCH - 2 * MARGIN)
        size = (inner.width + 2 * MARGIN, inner.height + 2 * MARGIN)
        return Sheet(*size, inner.background, tuple(moved(inner.marks, MARGIN, MARGIN)))


def of_plotly(figure: go.Figure, record: Record, width: float = COLUMN) -> Figure:
    """The same of a figure of Plotly's."""
    return Figure(lambda points: plotted(figure, points), record, width)


def of_component(name: str, data: bytes, record: Record, width: float | None = None) -> Figure:
    """The figure of what a browser component is sent. Raises FigureError where none is drawn."""
    found: Drawing | None = discover("viz.paper.drawings", "DRAWING").get(name)
    if found is None:
        raise FigureError(f"There is no figure of {name}.")
    opened, draw = given(data), found.draw
    return Figure(lambda points: draw(opened, points), record, width or found.width)
