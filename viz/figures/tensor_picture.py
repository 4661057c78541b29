"""A tensor as a picture: one cell per value, or per block of values if it is large."""

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from torch import Tensor

from transformer.inspection.tensor_statistics import Pooling, pool
from viz.figures.heatmap import BAR, TOP, Scale, signed_scale
from viz.figures.layout import axis, layout
from viz.theme import Theme, plotly_scale

MOST = 200
"""Cells along a side; what is larger is pooled."""
HEIGHT, ROW = (150, 480), 26
"""Pixels of the plotted area, at least and at most, and of one row where there are few."""
BELOW = 44


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
        """What a cell is."""
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


def draw(shown: Picture, theme: Theme) -> go.Figure:
    cells = shown.cells.float().cpu().numpy()
    scale = _scale(shown, theme)
    n_rows, n_columns = cells.shape
    least, most = HEIGHT
    height = min(most, max(least, n_rows * ROW)) + TOP + BELOW
    figure = go.Figure(
        layout=layout(
            theme,
            "tensor_picture",
            "<b>Values</b> by row and column",
            height=height,
            margin={"l": 8, "r": BAR, "t": TOP, "b": BELOW},
        )
    )
    across, down = _centres(shown, 1, n_columns), _centres(shown, 0, n_rows)
    figure.add_trace(
        go.Heatmap(
            z=cells,
            x=across,
            y=down,
            customdata=_starts(shown, n_rows, n_columns) if shown.is_pooled else None,
            zmin=scale.low,
            zmax=scale.high,
            colorscale=plotly_scale(scale.colours),
            colorbar=scale.bar(theme),
            hovertemplate=_hover(shown) + "<extra></extra>",
            hoverongaps=False,
        )
    )
    frame = {"showline": True, "mirror": True, "linecolor": theme.grid, "tickformat": ",d"}
    half_row, half_column = shown.size[0] / 2, shown.size[1] / 2
    sides = [across[0] - half_column, across[-1] + half_column]
    figure.update_xaxes(axis(theme, "column", **frame, range=sides))
    figure.update_yaxes(
        axis(theme, "row", **frame, range=[down[-1] + half_row, down[0] - half_row])
    )
    return figure


def describe(shown: Picture) -> str:
    rows, columns = (
        first + n * size - 1
        for first, n, size in zip(shown.first, shown.cells.shape, shown.size, strict=True)
    )
    finite = shown.cells[shown.cells.isfinite()]
    span = f"from {finite.min():.4f} to {finite.max():.4f}" if finite.numel() else "none finite"
    return (
        f"Rows {shown.first[0]:,} to {rows:,} and columns {shown.first[1]:,} to {columns:,}: "
        f"{span}. {shown.says}"
    )


def _scale(shown: Picture, theme: Theme) -> Scale:
    finite = shown.cells[shown.cells.isfinite()].abs()
    bound = float(finite.max()) if finite.numel() else 0.0
    if shown.is_signed:
        return signed_scale(theme, "value", bound or 1.0)
    return Scale("mean |value|", theme.attention_scale, 0.0, bound or 1.0)


def _centres(shown: Picture, side: int, n: int) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    size = shown.size[side]
    return shown.first[side] + (size - 1) / 2 + size * np.arange(n, dtype=np.float64)


def _starts(shown: Picture, n_rows: int, n_columns: int) -> "np.ndarray[tuple[int, ...], np.dtype]":
    """The first row and column of each cell: [r, c, 2]."""
    rows, columns = (
        first + size * np.arange(n, dtype=np.int32)
        for first, size, n in zip(shown.first, shown.size, (n_rows, n_columns), strict=True)
    )
    return np.stack(np.broadcast_arrays(rows[:, None], columns[None]), axis=-1)


def _hover(shown: Picture) -> str:
    if not shown.is_pooled:
        return "row %{y}, column %{x}: %{z:.4f}"
    rows, columns = shown.size
    block = f"({rows:,} × {columns:,}): %{{z:.4f}}"
    return f"from row %{{customdata[0]}}, column %{{customdata[1]}} {block}"
