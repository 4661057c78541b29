"""One tensor: numbers, histogram, singular values, a picture; and the likeness of positions."""

import re
from collections.abc import Mapping
from typing import Any

from torch import Tensor

from transformer.config import ModelConfig
from transformer.inspection.survey import Inspection
from transformer.inspection.tensor_statistics import (
    LARGEST,
    NAMELESS,
    Statistics,
    as_matrix,
    histogram,
)
from transformer.positions.encodings import find_pairs, similarity
from viz.app_packages import DeltaGenerator, pd, st
from viz.exhibits.exhibit import Exhibit
from viz.fields.fields import InspectFields
from viz.figures import tensors
from viz.figures.positions import chart_position_similarity, describe_position_similarity
from viz.figures.tensors import (
    chart_singular_values,
    chart_tensor_histogram,
    describe_singular_values,
    describe_tensor_histogram,
)
from viz.labels import literal, number
from viz.pages.inspect.files import Key, inspected, statistics_of, tensor_of
from viz.state.page import Pane
from viz.state.state import bound, note
from viz.ui.controls import choose_one, help_of
from viz.ui.saving import for_a_paper
from viz.ui.showing import below, columns, show, show_with_files

# One tensor: numbers, histogram, singular values and a picture.

POOLINGS = {"largest": "Largest", "mean": "Mean |x|"}
EXPLAIN = (
    "The spectral norm is the largest singular value σ, and the effective rank counts the "
    "directions that carry the matrix. Numbers leave out values that are not finite. Where there "
    "are more than two axes, the first gives the rows."
)


def one_tensor(pane: Pane, key: Key, top: DeltaGenerator) -> None:
    """Choose a tensor and look at it."""
    inspection = inspected(key)
    names = [each.name for each in inspection.tensors if each.n_values]
    if not names:
        note("No tensor here holds a value.")
        return
    titles, usual = {name: name or NAMELESS for name in names}, _first(inspection, names)
    own = pane.screen.of(InspectFields)
    with top:
        name = choose_one("Tensor", "tensor", titles, own.tensor, usual, as_list=True, width=480)
    values, numbers = tensor_of(key, name), statistics_of(key, name)
    part = _part_of(own, as_matrix(values))
    picture, others = _exhibit(name, part), _statistics(name, values, numbers)

    def in_numbers(pane: Pane) -> None:
        _in_numbers(pane, name, values, numbers, others)

    def as_picture(pane: Pane) -> None:
        _picture(pane, name, as_matrix(values), picture)
        st.caption(literal(part.says))

    is_part = own.tensor_rows is not None or own.tensor_columns is not None
    if is_part:  # on a wall there is room for one of both
        below(in_numbers, pane)
        as_picture(pane)
    else:
        in_numbers(pane)
        below(as_picture, pane)
    st.caption(EXPLAIN, help=help_of("effective_rank"))


def _in_numbers(
    pane: Pane, name: str, values: Tensor, numbers: Statistics, exhibits: Mapping[str, Exhibit]
) -> None:
    table, bars, curve = columns([2, 3, 3], gap="medium")
    with table:
        st.table(frame(values, numbers))
    with bars:
        show(exhibits["histogram"], f"histogram {name}")
    with curve:
        if "singular-values" in exhibits:
            show(exhibits["singular-values"], f"singular {name}")
        else:
            _no_curve(numbers)
    for_a_paper(pane, exhibits, "paper statistics")


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


def _first(inspection: Inspection, names: list[str]) -> str:
    """A matrix rather than a vector, to start with."""
    matrices = [each.name for each in inspection.tensors if len(each.shape) > 1 and each.n_values]
    return matrices[0] if matrices else names[0]


def tensor_exhibits(pane: Pane, key: Key) -> dict[str, Exhibit]:
    """A tensor's picture, its histogram and its singular values. Raises Refusal."""
    inspection, own = inspected(key), pane.screen.of(InspectFields)
    names = [each.name for each in inspection.tensors if each.n_values]
    if not names:
        return {}
    name = own.tensor if own.tensor in names else _first(inspection, names)
    values = tensor_of(key, name)
    picture = _exhibit(name, _part_of(own, as_matrix(values)))
    return {"tensor": picture} | _statistics(name, values, statistics_of(key, name))


def _part_of(own: InspectFields, matrix: Tensor) -> tensors.Picture:
    """The part of it that is looked at, which may be all of it."""
    parts = (own.tensor_rows, own.tensor_columns)
    ends = [_part(each, n) for each, n in zip(parts, matrix.shape, strict=True)]
    rows, columns = ((first, last + 1) for first, last in ends)
    pooling: Any = own.pooling
    return tensors.picture(matrix, rows, columns, pooling)


def _statistics(name: str, values: Tensor, numbers: Statistics) -> dict[str, Exhibit]:
    edges, counts = histogram(values)
    bars = Exhibit(
        f"Histogram of {name}",
        chart_tensor_histogram(edges, counts),
        describe_tensor_histogram(edges, counts),
        about="checkpoint",
    )
    if numbers.singular_values is None:
        return {"histogram": bars}
    curve = Exhibit(
        f"Singular values of {name}",
        chart_singular_values(numbers.singular_values),
        describe_singular_values(numbers.singular_values),
        about="checkpoint",
    )
    return {"histogram": bars, "singular-values": curve}


def _no_curve(numbers: Statistics) -> None:
    reason = "some values are not finite"
    if numbers.n_finite == numbers.n_values:
        reason = f"its smaller side is longer than {LARGEST:,}"
    note(f"No singular values: {reason}.")


def _picture(pane: Pane, name: str, matrix: Tensor, exhibit: Exhibit) -> None:
    own = pane.screen.of(InspectFields)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="large"):
        _range("Rows", "tensor_rows", own.tensor_rows, matrix.size(0))
        _range("Columns", "tensor_columns", own.tensor_columns, matrix.size(1))
        choose_one("Pooling", "pooling", POOLINGS, own.pooling)
    show_with_files(pane, exhibit, "tensor", key=f"picture {name}")


def _exhibit(name: str, picture: tensors.Picture) -> Exhibit:
    return Exhibit(
        name,
        tensors.chart_tensor_picture(picture),
        f"The tensor {name}. {tensors.describe_tensor_picture(picture)}",
        about="checkpoint",
    )


def _part(part: tuple[int, int] | None, n: int) -> tuple[int, int]:
    """Return the beginning and the end of a part of 0 .. n-1; of all where none is chosen."""
    return part if part and part[0] <= part[1] < n else (0, n - 1)


def _range(title: str, name: str, chosen: tuple[int, int] | None, n: int) -> None:
    """A part of 0 .. n-1; of one there is nothing to choose."""
    if n > 1:
        whole, part = (0, n - 1), _part(chosen, n)
        st.slider(title, 0, n - 1, part, width=300, **bound(name, part, whole))


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
MOST = 1024
"""Positions that are compared: a picture of more would be too large to send."""
FIXED = {
    "sinusoidal": "Its encodings are fixed sinusoids, which need not be saved.",
    "none": "It adds no positional encodings.",
}


def learned_positions(pane: Pane, key: Key, top: DeltaGenerator) -> None:
    """The cosine between any two learned positions; or why there are none."""
    inspection = inspected(key)
    tables = position_tables(inspection)
    if not tables:
        note(f"This model has no learned positions. {_why(inspection)}")
        return
    name, chosen = tables[0], pane.screen.of(InspectFields).table
    if len(tables) > 1:
        titles = dict(zip(tables, tables, strict=True))
        with top:
            name = choose_one("Table", "table", titles, chosen, as_list=True, width=380)
    table = tensor_of(key, name)
    exhibit = _exhibit_positions(table)
    if exhibit is None:
        note(f"{name} is not a matrix with one row per position.")
        return
    figure, words = columns([3, 2], gap="large")
    with figure:
        show_with_files(pane, exhibit, "position-similarity")
    with words:
        st.caption(literal(_note(name, table)) + POSITIONS_EXPLAIN)


def position_exhibits(pane: Pane, key: Key) -> dict[str, Exhibit]:
    """Declare the exhibit of learned positions. Raises CheckpointError."""
    tables, chosen = position_tables(inspected(key)), pane.screen.of(InspectFields).table
    if not tables:
        return {}
    exhibit = _exhibit_positions(tensor_of(key, chosen if chosen in tables else tables[0]))
    return {} if exhibit is None else {"position-similarity": exhibit}


def _exhibit_positions(table: Tensor) -> Exhibit | None:
    if table.dim() != 2 or not table.numel():
        return None
    cosines = similarity(table[:MOST], normalised=True)
    return Exhibit(
        "Learned positions",
        chart_position_similarity(cosines),
        describe_position_similarity(cosines),
        about="checkpoint",
    )


def position_tables(inspection: Inspection) -> list[str]:
    """Stored tensors that hold a vector for every position, by their names."""
    return [each.name for each in inspection.tensors if NAMES.search(each.name)]


def _why(inspection: Inspection) -> str:
    if not isinstance(inspection.config, ModelConfig):
        return "None of its tensors is named like a table of positions."
    return FIXED.get(inspection.config.positions, "positions.table is missing.")


def _note(name: str, table: Tensor) -> str:
    """Note what is special about a table of somebody else's."""
    if name.endswith("positions.table"):
        return ""
    first = f", the first {MOST:,} of {len(table):,}" if len(table) > MOST else ""
    fixed = " Its values are those of fixed sinusoids." if find_pairs(table) else ""
    return f"The rows of {name}{first}.{fixed} Some models leave their first rows unused. "
