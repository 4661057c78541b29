"""A figure for a paper: what it is drawn from, its numbers as a table, and its files."""

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Any

import numpy as np

from transformer.discover import discover
from transformer.extras import require
from transformer.refusal import quoted
from viz.export import rows_csv
from viz.paper.printed import pdf, png, slide
from viz.paper.record import FigureError, Maps, Origins, Record
from viz.paper.sheet import (
    INCH,
    SMALL,
    Drawing,
    Facts,
    Line,
    Mark,
    Sheet,
    Words,
    broken,
    moved,
    read_data,
    width_of,
)
from viz.paper.svg import svg
from viz.paper.typefaces import lacking, typeface, what_lacks

# The numbers of a figure as a table: rows of a sheet, and the files of any rows.

TABLE_KINDS = ("csv", "parquet")
EMPTY: Maps = MappingProxyType({})


def rows(sheet: Sheet, maps: Maps = EMPTY) -> list[dict[str, Any]]:
    """Each mark that stands for something; of a map each cell, by its row and column.

    maps: those whose cells they are: each says its tokens.
    """
    origins = Origins(maps)
    return [
        origins.with_origins(row) if origins.is_whole(mark.facts) else row
        for mark in sheet.marks
        for row in _rows(mark.facts)
    ]


def table(rows: Sequence[Mapping[str, Any]], kind: str) -> bytes:
    """Rows as a file.

    kind: "csv" or "parquet". Raises NotInstalled where pyarrow is needed and not here.
    """
    if kind == "csv":
        return rows_csv(rows)
    require("parquet", "save a .csv instead")
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    columns = {  # a cell that is NaN is empty, as pandas has it
        name: arrow.array(_cells(rows, name), from_pandas=True)
        for name in dict.fromkeys(name for row in rows for name in row)
    }
    file = io.BytesIO()
    parquet.write_table(arrow.table(columns), file)
    return file.getvalue()


def _cells(rows: Sequence[Mapping[str, Any]], name: str) -> list[Any]:
    """A column's values; among numbers an empty text is None: a column is of one type."""
    cells = [row.get(name) for row in rows]
    is_text = all(each is None or isinstance(each, str) for each in cells)
    return cells if is_text else [None if each == "" else each for each in cells]


def _rows(facts: Facts) -> Iterator[dict[str, Any]]:
    """Arrays side by side; one of two axes is a map."""
    arrays = {name: it for name, it in facts.items() if isinstance(it, np.ndarray)}
    plain = {name: it for name, it in facts.items() if name not in arrays}
    if not arrays:
        if plain:
            yield plain
        return
    n_columns = plain.pop("columns", 0)
    plain.pop("rows", None)
    lists = {name: it.ravel().tolist() for name, it in arrays.items()}
    for place, values in enumerate(zip(*lists.values(), strict=True)):
        where: dict[str, Any] = {}
        if n_columns:
            where = dict(zip(("row", "column"), divmod(place, n_columns), strict=True))
        yield plain | where | dict(zip(lists, values, strict=True))


# A figure for a paper: what it is drawn from, what it carries, and the files it becomes.

COLUMN, PAGE = 3.3, 6.9
"""Inches: of one column of a paper, and of two."""
MARGIN = 3.0
"""Points around a figure: lines and letters reach a little beyond their places."""
LINE = 8.0
"""Points from line to line below a figure."""
NARROWEST, WIDEST = 2.0, 20.0
SCALES = ("root", "linear")
"""The laws by which weights become colours: small ones stay visible, or none is flattered."""
KINDS = {"svg": svg, "pdf": pdf, "png": png}


@dataclass(frozen=True, eq=False)
class Figure:
    """A picture as files. The same figure gives the same bytes."""

    draw: Callable[[float], Sheet]
    """Width in points -> what is drawn."""
    record: Record
    width: float = COLUMN
    """In inches, where none is said."""
    picture: str | None = ""
    """Its name among those of its page, "" being the first; None: its address does not make it."""
    theme: str = "light"
    """The name of its colours."""
    numbers: Callable[[], Mapping[str, bytes]] = dict
    """Recorded numbers by names of files: more than the figure shows."""
    rows: Callable[[], Sequence[Mapping[str, Any]]] | None = None
    """The numbers of its content, a row each; None: those of the marks that are drawn."""
    is_slide: bool = False
    """It fills a slide of 16:9, and no width is asked."""
    maps: Callable[[], Maps] = dict
    """The maps whose cells are drawn: they say which tokens a cell is of."""
    font: str = ""
    """The family or file of its typeface; empty: DejaVu Sans. What it lacks is in others."""
    scale: str = SCALES[0]
    """The law by which weights became colours."""
    component: str = ""
    """The name of the component that it is drawn as; empty: a chart, a table or words."""
    name: str = ""
    """The name above it among panels; empty: it has one within, or needs none."""

    def file(self, kind: str, width: float | None = None) -> bytes:
        """kind: "svg", "pdf" or "png"; width: in inches. Raises FigureError."""
        if kind not in KINDS:
            raise FigureError(f"There is no figure as {kind}: there is {', '.join(KINDS)}.")
        inches = self.width if width is None else width
        if not NARROWEST <= inches <= WIDEST:
            raise FigureError(
                f"A figure is {NARROWEST:g} to {WIDEST:g} inches wide; a column has {COLUMN}."
            )
        record = self.record
        with typeface(self.font):
            return KINDS[kind](self.sheet(inches), record.title, record.caption, record.state)

    def lacks(self, width: float | None = None) -> str:
        """Say which of its letters no typeface here has; empty where all are there."""
        with typeface(self.font):
            marks = self.draw((width or self.width) * INCH).marks
            return what_lacks(lacking(it.text for it in marks if isinstance(it, Words)))

    def table(self, kind: str, width: float | None = None) -> bytes:
        """Its numbers as a file. kind: as `table` takes it; width: in inches."""
        of = self.rows() if self.rows else rows(self.sheet(width or self.width), self.maps())
        return table(of, kind)

    def data(self, kind: str, width: float | None = None) -> bytes:
        """Its numbers as .csv or .parquet, or those of all heads as .npz. Raises FigureError."""
        if kind in TABLE_KINDS:
            return self.table(kind, width)
        if kind != "npz":
            raise FigureError(f"There are no numbers as .{kind}: there is .csv, .parquet and .npz.")
        if not (numbers := self.numbers()):
            raise FigureError("This figure is of no recording: write its numbers as .csv.")
        return next(iter(numbers.values()))

    def sheet(self, inches: float) -> Sheet:
        """Draw it at this width, with a margin around it; a slide as large as slides are."""
        with typeface(self.font):
            return slide(self._sheet) if self.is_slide else self._sheet(inches)

    def _sheet(self, inches: float) -> Sheet:
        inner = self.draw(inches * INCH - 2 * MARGIN)
        foot = _foot(inner)
        size = (inner.width + 2 * MARGIN, inner.height + len(foot) * LINE + 2 * MARGIN)
        marks = (
            *moved(inner.marks, MARGIN + _spare(inner) / 2, MARGIN),
            *moved(foot, MARGIN, MARGIN),
        )
        return Sheet(*size, inner.background, marks)


def _spare(sheet: Sheet) -> float:
    """Points of width that nothing reaches: a map of a few words stands in the middle."""
    return max(0.0, sheet.width - max(map(_right, sheet.marks), default=sheet.width))


def _right(mark: Mark) -> float:
    if isinstance(mark, Line):
        return max((x for part in mark.parts for x, _ in part), default=0.0)
    if not isinstance(mark, Words):
        return mark.x + mark.width
    share = 0.0 if mark.is_upward else {"start": 1.0, "middle": 0.5, "end": 0.0}[mark.anchor]
    return mark.x + share * width_of(mark.text, mark.size, mark.is_bold)


def _foot(sheet: Sheet) -> list[Words]:
    """Below the figure, which of its letters no typeface has; nothing where all are there."""
    words = [mark for mark in sheet.marks if isinstance(mark, Words)]
    text = what_lacks(lacking(mark.text for mark in words))
    if not text:
        return []
    return [
        Words(0, sheet.height + (i + 1) * LINE - 1, line, SMALL, words[0].colour)
        for i, line in enumerate(broken(text, sheet.width, SMALL))
    ]


def of_component(
    name: str,
    data: bytes,
    record: Record,
    width: float | None = None,
    scale: str = SCALES[0],
) -> Figure:
    """The figure of what a browser component is sent. Raises FigureError where none is drawn.

    scale: "root" or "linear", by which weights become colours.
    """
    if scale not in SCALES:
        raise FigureError(f"There is no scale {quoted(scale)}: there is {' and '.join(SCALES)}.")
    drawing: Drawing | None = discover("viz.paper.drawings", "DRAWING").get(name)
    if drawing is None:
        raise FigureError(f"There is no figure of {name}.")
    opened, draw = read_data(data, scale == "linear"), drawing.draw
    return Figure(
        lambda points: draw(opened, points),
        record.with_law(drawing.law(opened)),
        width or drawing.width,
        scale=scale,
        component=name,
    )
