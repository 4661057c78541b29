"""The singular values of a matrix, from the largest on."""

import plotly.graph_objects as go
from torch import Tensor

from transformer.inspection.tensor_statistics import effective_rank
from viz.figures.layout import axis, layout
from viz.theme import SERIES, Theme

HEIGHT = 330


def draw(values: Tensor, theme: Theme) -> go.Figure:
    """values: [N], falling."""
    title = "<b>Singular values</b>"
    frame = {"height": HEIGHT, "margin": {"l": 8, "r": 16, "t": 44, "b": 44}}
    figure = go.Figure(layout=layout(theme, "singular_values", title, **frame))
    numbers = list(range(1, len(values) + 1))
    mode = "lines+markers" if len(values) <= 64 else "lines"
    figure.add_trace(
        go.Scatter(
            x=numbers,
            y=values.tolist(),
            mode=mode,
            line={"color": SERIES[0], "width": 2},
            hovertemplate="σ<sub>%{x}</sub> = %{y:.4f}<extra></extra>",
        )
    )
    figure.update_xaxes(axis(theme, "number, by size", nticks=8, tickformat=",d"))
    figure.update_yaxes(axis(theme, "singular value σ", rangemode="tozero", grid=True, nticks=6))
    return figure


def describe(values: Tensor) -> str:
    return (
        f"{len(values):,} singular values fall from {values[0]:.4f} to {values[-1]:.4f}; "
        f"the effective rank is {effective_rank(values):.2f}."
    )
