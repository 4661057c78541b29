"""A tensor as a picture: one cell per value, or per block of values if it is large."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from transformer.inspection.tensor_statistics import Pooling, pool
from viz.exhibits.chart import Axis, Chart, Grid
from viz.exhibits.shading import Shading, differences
from viz.labels import number

MOST = 200
"""Cells along a side; what is larger is pooled."""
HEIGHT, ROW = (150, 480), 26
"""Pixels of the plotted area, at least and at most, and of one row where there are few."""


@dataclass(frozen=True, eq=False)
class Picture:
    """A part of a matrix as cells."""

    cells: Tensor
    """[r, c]"""
    size: tuple[int, int]
    """Rows and columns of the matrix that make one cell."""
    first: tuple[int, int]
    """Row and column of the matrix at which the part begins."""
    pooling: Pooling

    @property
    def is_pooled(self) -> bool:
        return self.size != (1, 1)

    @property
    def is_signed(self) -> bool:
        return not self.is_pooled or self.pooling == "largest"

    @property
    def says(self) -> str:
        """The meaning of a cell, in a sentence."""
        if not self.is_pooled:
            return "A cell is one value."
        what = "its value farthest from 0" if self.is_signed else "the mean of its |values|"
        rows, columns = self.size
        return f"A cell is a block of {rows:,} × {columns:,} values, shown as {what}."


def picture(
    matrix: Tensor, rows: tuple[int, int], columns: tuple[int, int], pooling: Pooling
) -> Picture:
    """Rows and columns from the first number to before the second of a matrix [R, C]."""
    part = matrix[slice(*rows), slice(*columns)]
    cells, size = pool(part, MOST, pooling)
    return Picture(cells, size, (rows[0], columns[0]), pooling)


def chart(picture: Picture) -> Chart:
    """The cells, which may be blocks of values."""
    (least, most), sides = HEIGHT, zip(picture.first, picture.size, strict=True)
    rows, columns = ((first + (size - 1) / 2, float(size)) for first, size in sides)
    grid = Grid(
        picture.cells.float().cpu().numpy(),
        _shading(picture),
        _hover(picture),
        rows,
        columns,
        _starts(picture) if picture.is_pooled else None,
    )
    x, y = Axis("column", format=",d"), Axis("row", format=",d")
    height = min(most, max(least, len(picture.cells) * ROW))
    return Chart("tensor_picture", "Values", " by row and column", x, y, (grid,), height)


def describe(picture: Picture) -> str:
    rows, columns = (
        first + n * size - 1
        for first, n, size in zip(picture.first, picture.cells.shape, picture.size, strict=True)
    )
    finite = picture.cells[picture.cells.isfinite()]
    span = (
        f"from {number(finite.min(), 4)} to {number(finite.max(), 4)}"
        if finite.numel()
        else "none finite"
    )
    return (
        f"Rows {picture.first[0]:,} to {rows:,} and columns {picture.first[1]:,} to {columns:,}: "
        f"{span}. {picture.says}"
    )


def _shading(picture: Picture) -> Shading:
    finite = picture.cells[picture.cells.isfinite()].abs()
    bound = (float(finite.max()) if finite.numel() else 0.0) or 1.0
    if picture.is_signed:
        return differences("value", bound)
    return Shading("mean |value|", "share", 0.0, bound)


def _starts(picture: Picture) -> NDArray[np.int32]:
    """The first row and column of each cell: [r, c, 2]."""
    rows, columns = (
        first + size * np.arange(n, dtype=np.int32)
        for first, size, n in zip(picture.first, picture.size, picture.cells.shape, strict=True)
    )
    return np.stack(np.broadcast_arrays(rows[:, None], columns[None]), axis=-1)


def _hover(picture: Picture) -> str:
    if not picture.is_pooled:
        return "row {y}, column {x}: {z:.4f}"
    rows, columns = picture.size
    block = f"({rows:,} × {columns:,}): {{z:.4f}}"
    return f"from row {{0}}, column {{1}} {block}"
