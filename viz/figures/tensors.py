"""Figures of Inspect: a tensor as a picture and in numbers, and circuits."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from transformer.inspection.tensor_statistics import Pooling, effective_rank, pool
from transformer.token import Token
from viz.exhibits.chart import Axis, Bars, Chart, Curve, Grid, Shading, differences, values_of
from viz.figures.tables import heat_map
from viz.labels import counted, number, word_label

# A tensor as a picture: one cell per value, or per block of values if it is large.

MOST = 200
"""Cells along a side; what is larger is pooled."""
TENSOR_PICTURE_HEIGHT, ROW = (150, 480), 26
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


def chart_tensor_picture(picture: Picture) -> Chart:
    """The cells, which may be blocks of values."""
    (least, most), sides = TENSOR_PICTURE_HEIGHT, zip(picture.first, picture.size, strict=True)
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


def describe_tensor_picture(picture: Picture) -> str:
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


# The counts of values of a tensor.

TENSOR_HISTOGRAM_HEIGHT = 242


def chart_tensor_histogram(edges: Tensor, counts: Tensor) -> Chart:
    """A bar a bin: edges [N + 1] and counts [N], as `tensor_statistics.histogram` gives them."""
    low, high = edges[:-1], edges[1:]
    ends = list(zip(low.tolist(), high.tolist(), strict=True))
    middles, hover = ((low + high) / 2).numpy(), "{0:.4f} to {1:.4f}: {y:,}"
    bars = Bars("", middles, counts.numpy(), (0,), hover, width=0.94, more=ends)
    x, y, title = Axis("value"), values_of("values in a bin"), ("Histogram", " of the values")
    return Chart("tensor_histogram", *title, x, y, (bars,), TENSOR_HISTOGRAM_HEIGHT)


def describe_tensor_histogram(edges: Tensor, counts: Tensor) -> str:
    top, ends = int(counts.argmax()), [number(value, 4) for value in edges.tolist()]
    return (
        f"Histogram of {int(counts.sum()):,} values from {ends[0]} to {ends[-1]}; most "
        f"of them, {int(counts[top]):,}, lie between {ends[top]} and {ends[top + 1]}."
    )


# The singular values of a matrix, from the largest on.

SINGULAR_VALUES_HEIGHT, MARKED = 242, 64
"""Pixels; values beyond which points have no marks."""


def chart_singular_values(values: Tensor) -> Chart:
    """values: [N], falling."""
    numbers, point = range(1, len(values) + 1), 6 if len(values) <= MARKED else 0
    curve = Curve("", numbers, values.numpy(), 0, "σ({x}) = {y:.4f}", point=point)
    x, y = Axis("number, by size", format=",d"), values_of("singular value σ")
    return Chart("singular_values", "Singular values", "", x, y, (curve,), SINGULAR_VALUES_HEIGHT)


def describe_singular_values(values: Tensor) -> str:
    return (
        f"{len(values):,} singular values fall from {values[0]:.4f} to {values[-1]:.4f}; "
        f"the effective rank is {effective_rank(values):.2f}."
    )


# A head's QK or OV circuit between chosen tokens.

TITLES = {
    "qk": ("QK", "score before the softmax", "query", "key"),
    "ov": ("OV", "what attending adds", "attended token", "token whose logit it moves"),
}
"""Circuit -> its name, what a cell is, and its two sides."""

SMALL = 20
"""Labels of a side where two circuits and the copying scores share a row."""


def chart_circuit_heatmap(
    circuit: str, values: Tensor, tokens: Sequence[Token], most_labels: int = 64
) -> Chart:
    """values: [N, N] between N tokens. circuit: "qk" or "ov"."""
    name, what, rows, columns = TITLES[circuit]
    return heat_map(
        f"circuit {circuit}",
        (name, f": {what}"),
        values,
        Axis(rows, labels=tokens, most_labels=most_labels),
        Axis(columns, labels=tokens, most_labels=most_labels),
        differences("score" if circuit == "qk" else "logit", float(values.abs().amax()) or 1.0),
        is_square=True,
    ).in_words


def describe_circuit_heatmap(circuit: str, values: Tensor, tokens: Sequence[Token]) -> str:
    name, what, *_ = TITLES[circuit]
    row, column = divmod(int(values.argmax()), len(tokens))
    of = f"{word_label(tokens[row])} and {word_label(tokens[column])}"
    return (
        f"{name} circuit between {len(tokens)} tokens, {what}: the largest value is "
        f"{number(values[row, column], 4)}, of {of}; "
        f"the smallest is {number(values.min(), 4)}."
    )


# The copying score of every head of a kind.


def chart_copying_scores(scores: Tensor) -> Chart:
    """scores: [L, H], from -1 to 1."""
    rows, columns = (
        Axis(title, labels=[f"{letter}{i}" for i in range(n)])
        for title, letter, n in zip(("layer", "head"), "LH", scores.shape, strict=True)
    )
    title = ("Copying score", " of every head")
    hover = "{y} {x}: {z:.4f}"
    return heat_map("copying_scores", title, scores, rows, columns, differences("score"), hover)


def describe_copying_scores(scores: Tensor) -> str:
    layer, head = divmod(int(scores.argmax()), scores.size(1))
    n = counted(scores.numel(), "head", "heads")
    return (
        f"Copying scores of {n}, from {number(scores.min(), 4)} to "
        f"{number(scores.max(), 4)}, which is that of L{layer} H{head}."
    )
