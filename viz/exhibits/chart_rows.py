"""A chart's numbers as rows, exact, under what its axes and its scale are called."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from transformer.visible import visible
from viz.exhibits.chart import Axis, Bars, Cells, Chart, Curve, Grid, Mark, Numbers, Point
from viz.labels import label

Row = dict[str, Any]


def rows_of(chart: Chart) -> list[Row]:
    """A row for each point, bar and cell.

    A value along an axis with labels is its label, behind its place; a cell that the chart leaves
    empty has no value. Rules and spans have no rows.
    """
    return [row for mark in chart.marks for row in _rows(mark, chart)]


def _rows(mark: Mark, chart: Chart) -> Iterator[Row]:
    if isinstance(mark, Curve):
        yield from _points(mark.name, mark.x, mark.y, chart, mark.names)
    elif isinstance(mark, Bars):
        ends = (mark.values, mark.at) if mark.is_level else (mark.at, mark.values)
        yield from _points(mark.name, *ends, chart)
    elif isinstance(mark, Point):
        yield from _points(mark.text, [mark.x], [mark.y], chart)
    elif isinstance(mark, Grid):
        values, name = np.asarray(mark.values), _plain(mark.shading.title) or "value"
        empty = np.isnan(values.astype(np.float64))
        for place, named in _cells(values.shape, chart, np.ones(values.shape, bool)):
            yield named | {_other(name, named): None if empty[place] else values[place].item()}
    elif isinstance(mark, Cells) and mark.name:
        for _, named in _cells(mark.where.shape, chart, mark.where):
            yield named | {_other("state", named): mark.name}


def _points(
    name: str, xs: Numbers, ys: Numbers, chart: Chart, names: Sequence[str] = ()
) -> Iterator[Row]:
    """Rows of values along both axes; without the gaps. names: of the points."""
    across, up = np.asarray(xs), np.asarray(ys)
    there = np.isfinite(across.astype(np.float64)) & np.isfinite(up.astype(np.float64))
    for i in np.flatnonzero(there).tolist():
        x, y = across[i].item(), up[i].item()
        row: Row = {"series": visible(name)} | ({"point": visible(names[i])} if names else {})
        for axis, value, usual in ((chart.x, x, "x"), (chart.y, y, "y")):
            if axis.labels:
                row[_other("place", row)] = value
            row[_other(_plain(axis.title) or usual, row)] = _at(axis, value)
        yield {**row, **_origin(chart.y, y), **_origin(chart.x, x)}


def _cells(
    shape: Sequence[int], chart: Chart, where: NDArray[np.bool_]
) -> Iterator[tuple[tuple[int, int], Row]]:
    """Row and column of cells, with what stands beside and below them."""
    grid = next((each for each in chart.marks if isinstance(each, Grid)), None)
    (top, down), (left, across) = (grid.rows, grid.columns) if grid else ((0.0, 1.0), (0.0, 1.0))
    for i, j in np.argwhere(where).tolist():
        row: Row = {"row": i, "column": j}
        for axis, value, usual in (
            (chart.y, top + i * down, "y"),
            (chart.x, left + j * across, "x"),
        ):
            row[_other(_plain(axis.title) or usual, row)] = _at(axis, value)
            row |= _origin(axis, value)
        yield (i, j), row


def _at(axis: Axis, value: float) -> Any:
    """The label at a place, where the axis has labels; else the value."""
    if not axis.labels:
        return value
    it = axis.labels[round(value)] if 0 <= round(value) < len(axis.labels) else ""
    return visible(it) if isinstance(it, str) else label(it)


def _origin(axis: Axis, value: float) -> Mapping[str, str]:
    """The token of the text at a place; empty where it is none."""
    return axis.origins[round(value)] if 0 <= round(value) < len(axis.origins) else {}


def _plain(title: str) -> str:
    return visible(" ".join(title.split()))


def _other(name: str, row: Row) -> str:
    """The name, or where it is taken the next one that is free: "key", "key 2"."""
    names = (name, *(f"{name} {i}" for i in range(2, len(row) + 3)))
    return next(each for each in names if each not in row)
