"""One tensor: numbers, histogram, singular values and a picture."""

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from torch import Tensor

from transformer.inspection.module_tree import NAMELESS
from transformer.inspection.survey import Inspection
from transformer.inspection.tensor_statistics import (
    LARGEST,
    Statistics,
    as_matrix,
    histogram,
)
from viz.exhibits.exhibit import Exhibit, PlotlyFigure
from viz.fields.inspect import InspectFields
from viz.figures import singular_values, tensor_histogram, tensor_picture
from viz.labels import literal
from viz.pages.inspect.files import Key, inspected, statistics_of, tensor_of
from viz.state.page import Pane
from viz.state.state import bound
from viz.talks.stage import on_wall
from viz.ui.columns import columns
from viz.ui.controls import choose_one
from viz.ui.panel import plot, show_figure
from viz.ui.saving import for_a_paper
from viz.ui.words import help_of

POOLINGS = {"largest": "Largest", "mean": "Mean |x|"}
EXPLAIN = (
    "The spectral norm is the largest singular value σ, and the effective rank counts the "
    "directions that carry the matrix. Numbers leave out values that are not finite. Where there "
    "are more than two axes, the first gives the rows."
)


def tensor(pane: Pane, key: Key, top: DeltaGenerator) -> None:
    """Choose a tensor and look at it."""
    found = inspected(key)
    names = [each.name for each in found.tensors if each.n_values]
    if not names:
        st.info("No tensor here holds a value.")
        return
    titles, usual = {name: name or NAMELESS for name in names}, _first(found, names)
    own = pane.screen.of(InspectFields)
    with top:
        name = choose_one("Tensor", "tensor", titles, own.tensor, usual, as_list=True, width=480)
    values = tensor_of(key, name)
    is_part = own.tensor_rows is not None or own.tensor_columns is not None
    if not on_wall() or not is_part:
        _in_numbers(pane, name, values, statistics_of(key, name))
    if not on_wall() or is_part:  # there is room for one of both
        _picture(pane, name, as_matrix(values))
    st.caption(EXPLAIN, help=help_of("effective_rank"))


def _in_numbers(pane: Pane, name: str, values: Tensor, numbers: Statistics) -> None:
    table, bars, curve = columns([2, 3, 3], gap="medium")
    with table:
        st.table(frame(values, numbers))
    shown = _statistics(name, values, numbers)
    with bars:
        plot(shown["histogram"], f"histogram {name}")
    with curve:
        if "singular-values" in shown:
            plot(shown["singular-values"], f"singular {name}")
        else:
            _no_curve(numbers)
    for_a_paper(pane, shown, "paper statistics")


def frame(values: Tensor, numbers: Statistics) -> pd.DataFrame:
    """The tensor in numbers, a line each."""
    rank = numbers.effective_rank
    texts = {
        "shape": " × ".join(f"{size:,}" for size in values.shape) or "one number",
        "finite values": f"{numbers.n_finite:,} of {numbers.n_values:,}",
        "mean": f"{numbers.mean:.6g}",
        "standard deviation": f"{numbers.std:.6g}",
        "least": f"{numbers.min:.6g}",
        "greatest": f"{numbers.max:.6g}",
        "L1 norm": f"{numbers.l1:.6g}",
        "L2 norm": f"{numbers.l2:.6g}",
        "spectral norm": "–" if numbers.spectral is None else f"{numbers.spectral:.6g}",
        "effective rank": "–" if rank is None else f"{rank:.2f} of {min(as_matrix(values).shape)}",
    }
    values_said = [text.replace("-", "−") for text in texts.values()]
    return pd.DataFrame({"": list(texts), "value": values_said}).set_index("")


def _first(found: Inspection, names: list[str]) -> str:
    """A matrix rather than a vector, to start with."""
    matrices = [each.name for each in found.tensors if len(each.shape) > 1 and each.n_values]
    return matrices[0] if matrices else names[0]


def tensor_figures(pane: Pane, key: Key) -> dict[str, Exhibit]:
    """What can be taken along. Raises Refusal."""
    found, own = inspected(key), pane.screen.of(InspectFields)
    names = [each.name for each in found.tensors if each.n_values]
    if not names:
        return {}
    name = own.tensor if own.tensor in names else _first(found, names)
    values = tensor_of(key, name)
    matrix = as_matrix(values)
    parts = (own.tensor_rows, own.tensor_columns)
    ends = [_part(said, n) for said, n in zip(parts, matrix.shape, strict=True)]
    rows, columns = ((first, last + 1) for first, last in ends)
    pooling: Any = own.pooling
    shown = tensor_picture.picture(matrix, rows, columns, pooling)
    return {"tensor": _shown(name, shown)} | _statistics(name, values, statistics_of(key, name))


def _statistics(name: str, values: Tensor, numbers: Statistics) -> dict[str, Exhibit]:
    edges, counts = histogram(values)
    bars = Exhibit(
        f"Histogram of {name}",
        PlotlyFigure(lambda theme: tensor_histogram.draw(edges, counts, theme)),
        tensor_histogram.describe(edges, counts),
        about="checkpoint",
    )
    if numbers.singular_values is None:
        return {"histogram": bars}
    curve = Exhibit(
        f"Singular values of {name}",
        PlotlyFigure(partial(singular_values.draw, numbers.singular_values)),
        singular_values.describe(numbers.singular_values),
        about="checkpoint",
    )
    return {"histogram": bars, "singular-values": curve}


def _no_curve(numbers: Statistics) -> None:
    reason = "some values are not finite"
    if numbers.n_finite == numbers.n_values:
        reason = f"its smaller side is longer than {LARGEST:,}"
    st.info(f"No singular values: {reason}.")


def _picture(pane: Pane, name: str, matrix: Tensor) -> None:
    own = pane.screen.of(InspectFields)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="large"):
        rows = _range("Rows", "tensor_rows", own.tensor_rows, matrix.size(0))
        columns = _range("Columns", "tensor_columns", own.tensor_columns, matrix.size(1))
        pooling: Any = choose_one("Pooling", "pooling", POOLINGS, own.pooling)
    shown = tensor_picture.picture(matrix, rows, columns, pooling)
    show_figure(pane, _shown(name, shown), "tensor", key=f"picture {name}")
    st.caption(literal(shown.says))


def _shown(name: str, picture: tensor_picture.Picture) -> Exhibit:
    return Exhibit(
        name,
        PlotlyFigure(partial(tensor_picture.draw, picture)),
        f"The tensor {name}. {tensor_picture.describe(picture)}",
        about="checkpoint",
    )


def _part(said: tuple[int, int] | None, n: int) -> tuple[int, int]:
    """Where a part of 0 .. n-1 begins, and where it ends; all of them where none is said."""
    return said if said and said[0] <= said[1] < n else (0, n - 1)


def _range(title: str, name: str, said: tuple[int, int] | None, n: int) -> tuple[int, int]:
    """A part of 0 .. n-1, as where it begins and where it has ended; nothing to choose of one."""
    if n == 1:
        return 0, 1
    whole = (0, n - 1)
    first, last = _part(said, n)
    st.slider(title, 0, n - 1, (first, last), width=300, **bound(name, (first, last), whole))
    return first, last + 1
