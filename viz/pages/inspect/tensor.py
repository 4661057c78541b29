"""One tensor: numbers, histogram, singular values, a picture; and the likeness of positions."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from transformer.checkpoint import CheckpointError
from transformer.config import ModelConfig
from transformer.inspection.survey import Inspection
from transformer.inspection.tensor_statistics import (
    LARGEST,
    NAMELESS,
    Pooling,
    Statistics,
    as_matrix,
    effective_rank,
    pool,
)
from transformer.positions.encodings import find_pairs, similarity
from viz.app_packages import pd, st
from viz.components.kit.picture import NothingLeft
from viz.exhibits.chart import Axis, Bars, Chart, Curve, Grid, Shading, differences, values_of
from viz.exhibits.exhibit import Exhibit
from viz.figures.positions import chart_position_similarity, describe_position_similarity
from viz.labels import literal, number
from viz.page_fields import InspectFields
from viz.pages.inspect.files import (
    histogram_of,
    inspected,
    key_of,
    statistics_of,
    tensor_of,
)
from viz.state.page import Pane
from viz.state.state import bound, note
from viz.ui.controls import choose_one, help_of
from viz.ui.parts import Part
from viz.ui.save_menu import offer_figures
from viz.ui.showing import below, columns, show, show_with_files

# A tensor as a picture: one cell per value, or per block of values if it is large.

MOST_CELLS = 200
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
    cells, size = pool(part, MOST_CELLS, pooling)
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
    """Its part and the span of its values, in words."""
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
    """The span of the values, and the fullest bin, in words."""
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
    """The first and the last, and the effective rank, in words."""
    return (
        f"{len(values):,} singular values fall from {values[0]:.4f} to {values[-1]:.4f}; "
        f"the effective rank is {effective_rank(values):.2f}."
    )


# The part of one tensor: its numbers with two charts, and its picture.

POOLINGS = {"largest": "Largest", "mean": "Mean |x|"}
EXPLAIN = (
    "The spectral norm is the largest singular value σ, and the effective rank counts the "
    "directions that carry the matrix. Numbers leave out values that are not finite. Where there "
    "are more than two axes, the first gives the rows."
)


def _choose_tensor(pane: Pane) -> str:
    titles, usual = _titles(pane)
    look: Any = {"as_list": True, "width": 480}
    return choose_one("Tensor", "tensor", titles, _own(pane).tensor, usual, **look)


def _titles(pane: Pane) -> tuple[dict[str, str], str]:
    """Return those that hold a value, and the first matrix of them. Raises NothingLeft."""
    tensors = [each for each in inspected(key_of(pane)).tensors if each.n_values]
    if not tensors:
        raise NothingLeft("No tensor here holds a value.")
    usual = next((each for each in tensors if len(each.shape) > 1), tensors[0])
    return {each.name: each.name or NAMELESS for each in tensors}, usual.name


def _name(pane: Pane) -> str:
    """The tensor that is chosen. Raises NothingLeft."""
    titles, usual = _titles(pane)
    return next(name for name in (_own(pane).tensor, usual) if name in titles)


def _own(pane: Pane) -> InspectFields:
    return pane.screen.of(InspectFields)


def _looked_at(pane: Pane) -> Picture:
    """The part of it that is looked at, which may be all of it."""
    own, matrix = _own(pane), as_matrix(tensor_of(key_of(pane), _name(pane)))
    parts = (own.tensor_rows, own.tensor_columns)
    ends = [_part(each, n) for each, n in zip(parts, matrix.shape, strict=True)]
    rows, columns = ((first, last + 1) for first, last in ends)
    pooling: Any = own.pooling
    return picture(matrix, rows, columns, pooling)


def _part(part: tuple[int, int] | None, n: int) -> tuple[int, int]:
    """Return the beginning and the end of a part of 0 .. n-1; of all where none is chosen."""
    return part if part and part[0] <= part[1] < n else (0, n - 1)


def _exhibits(pane: Pane, part: Picture) -> dict[str, Exhibit]:
    """A tensor's picture, its histogram and its singular values."""
    key, name = key_of(pane), _name(pane)
    singular, bins = statistics_of(key, name).singular_values, histogram_of(key, name)
    says = f"The tensor {name}. {describe_tensor_picture(part)}"
    bars = chart_tensor_histogram(*bins), describe_tensor_histogram(*bins)
    exhibits = {
        "tensor": Exhibit(name, chart_tensor_picture(part), says, about="checkpoint"),
        "histogram": Exhibit(f"Histogram of {name}", *bars, about="checkpoint"),
    }
    if singular is not None:
        curve = chart_singular_values(singular), describe_singular_values(singular)
        title = f"Singular values of {name}"
        exhibits["singular-values"] = Exhibit(title, *curve, about="checkpoint")
    return exhibits


def _draw(pane: Pane) -> None:
    own, part = _own(pane), _looked_at(pane)
    exhibits = _exhibits(pane, part)
    large = exhibits.pop("tensor")

    def in_numbers(pane: Pane) -> None:
        _in_numbers(pane, exhibits)

    def as_picture(pane: Pane) -> None:
        _picture(pane, large)
        st.caption(literal(part.says))

    if own.tensor_rows is not None or own.tensor_columns is not None:
        below(in_numbers, pane)  # on a wall there is room for one of both: a part was chosen
        as_picture(pane)
    else:
        in_numbers(pane)
        below(as_picture, pane)
    st.caption(EXPLAIN, help=help_of("effective_rank"))


def _in_numbers(pane: Pane, exhibits: Mapping[str, Exhibit]) -> None:
    key, name = key_of(pane), _name(pane)
    table, bars, curve = columns([2, 3, 3], gap="medium")
    values, numbers = tensor_of(key, name), statistics_of(key, name)
    with table:
        st.table(frame(values, numbers))
    with bars:
        show(exhibits["histogram"], f"histogram {name}")
    with curve:
        if "singular-values" in exhibits:
            show(exhibits["singular-values"], f"singular {name}")
        else:
            reason = "some values are not finite"
            if numbers.n_finite == numbers.n_values:
                reason = f"its smaller side is longer than {LARGEST:,}"
            note(f"No singular values: {reason}.")
    offer_figures(pane, exhibits)


def frame(values: Tensor, numbers: Statistics) -> "pd.DataFrame":
    """The tensor in numbers, a line each."""
    rank = numbers.effective_rank
    texts = {
        "shape": " × ".join(f"{size:,}" for size in values.shape) or "one number",
        "finite values": f"{numbers.n_finite:,} of {numbers.n_values:,}",
        "mean": number(numbers.mean, 6, "g"),
        "standard deviation": number(numbers.std, 6, "g"),
        "least": number(numbers.min, 6, "g"),
        "greatest": number(numbers.max, 6, "g"),
        "L1 norm": number(numbers.l1, 6, "g"),
        "L2 norm": number(numbers.l2, 6, "g"),
        "spectral norm": "–" if numbers.spectral is None else number(numbers.spectral, 6, "g"),
        "effective rank": "–"
        if rank is None
        else f"{number(rank)} of {min(as_matrix(values).shape)}",
    }
    return pd.DataFrame({"": list(texts), "value": list(texts.values())}).set_index("")


def _picture(pane: Pane, exhibit: Exhibit) -> None:
    own, name = _own(pane), _name(pane)
    matrix = as_matrix(tensor_of(key_of(pane), name))
    with st.container(horizontal=True, vertical_alignment="bottom", gap="large"):
        _range("Rows", "tensor_rows", own.tensor_rows, matrix.size(0))
        _range("Columns", "tensor_columns", own.tensor_columns, matrix.size(1))
        choose_one("Pooling", "pooling", POOLINGS, own.pooling)
    show_with_files(pane, exhibit, "tensor", key=f"picture {name}")


def _range(title: str, name: str, chosen: tuple[int, int] | None, n: int) -> None:
    """A part of 0 .. n-1; of one there is nothing to choose."""
    if n > 1:
        whole, part = (0, n - 1), _part(chosen, n)
        st.slider(title, 0, n - 1, part, width=300, **bound(name, part, whole))


TENSOR = Part("Tensor", lambda pane: _exhibits(pane, _looked_at(pane)), _choose_tensor, draw=_draw)


# The likeness of positions that a model has learned.

POSITIONS_EXPLAIN = (
    "The cosine of the angle between the vectors that the model has learned for any two of its "
    "positions: 1 where both point the same way. It is taken of all of them, whatever the sentence."
)
NAMES = re.compile(
    r"(^|\.)((\w+_)?positions\.table|(\w+_)?(embed_positions|position_embeddings?|wpe|pos_emb\w*)"
    r"(\.weight)?)$"
)
"""Names of models for the table of the vectors that they have learned for positions."""
MOST_POSITIONS = 1024
"""Positions that are compared: a picture of more would be too large to send."""
FIXED = {
    "sinusoidal": "Its encodings are fixed sinusoids, which need not be saved.",
    "none": "It adds no positional encodings.",
}


def _choose_table(pane: Pane) -> None:
    tables = position_tables(inspected(key_of(pane)))
    if len(tables) > 1:
        titles, chosen = dict(zip(tables, tables, strict=True)), _own(pane).table
        choose_one("Table", "table", titles, chosen, as_list=True, width=380)


def _table(pane: Pane) -> str:
    """The table that is chosen, by its name. Raises NothingLeft."""
    inspection, chosen = inspected(key_of(pane)), _own(pane).table
    tables = position_tables(inspection)
    if not tables:
        why = "None of its tensors is named like a table of positions."
        if isinstance(inspection.config, ModelConfig):
            why = FIXED.get(inspection.config.positions, "positions.table is missing.")
        raise NothingLeft(f"This model has no learned positions. {why}")
    return chosen if chosen is not None and chosen in tables else tables[0]


def _position_exhibits(pane: Pane) -> dict[str, Exhibit]:
    name = _table(pane)
    table = tensor_of(key_of(pane), name)
    if table.dim() != 2 or not table.numel():
        raise NothingLeft(f"{name} is not a matrix with one row per position.")
    cosines = similarity(table[:MOST_POSITIONS], normalised=True)
    chart, says = chart_position_similarity(cosines), describe_position_similarity(cosines)
    return {"position-similarity": Exhibit("Learned positions", chart, says, about="checkpoint")}


def _draw_positions(pane: Pane) -> None:
    name, (exhibit,) = _table(pane), _position_exhibits(pane).values()
    figure, words = columns([3, 2], gap="large")
    with figure:
        show_with_files(pane, exhibit, "position-similarity")
    with words:
        st.caption(literal(_note(name, tensor_of(key_of(pane), name))) + POSITIONS_EXPLAIN)


def position_tables(inspection: Inspection) -> list[str]:
    """Stored tensors that hold a vector for every position, by their names."""
    return [each.name for each in inspection.tensors if NAMES.search(each.name)]


def _note(name: str, table: Tensor) -> str:
    """Note what is special about a table of somebody else's."""
    if name.endswith("positions.table"):
        return ""
    first = (
        f", the first {MOST_POSITIONS:,} of {len(table):,}" if len(table) > MOST_POSITIONS else ""
    )
    fixed = " Its values are those of fixed sinusoids." if find_pairs(table) else ""
    return f"The rows of {name}{first}.{fixed} Some models leave their first rows unused. "


def _has_table(pane: Pane) -> bool:
    try:
        return bool(position_tables(inspected(key_of(pane))))
    except CheckpointError:  # the part that is shown says why
        return False


POSITIONS = Part(
    "Positions", _position_exhibits, _choose_table, draw=_draw_positions, is_offered=_has_table
)
