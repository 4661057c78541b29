"""How often a tensor has which values."""

import plotly.graph_objects as go
from torch import Tensor

from viz.figures.layout import axis, layout
from viz.theme import SERIES, Theme

HEIGHT = 330


def draw(edges: Tensor, counts: Tensor, theme: Theme) -> go.Figure:
    """A bar a bin: edges [N + 1] and counts [N], as `tensor_statistics.histogram` gives them."""
    title = "<b>Histogram</b> of the values"
    margin = {"l": 8, "r": 16, "t": 44, "b": 44}
    figure = go.Figure(layout=layout(theme, "tensor_histogram", title, height=HEIGHT, bargap=0.06))
    low, high = edges[:-1], edges[1:]
    figure.add_trace(
        go.Bar(
            x=((low + high) / 2).tolist(),
            y=counts.tolist(),
            width=(high - low).tolist(),
            customdata=list(zip(low.tolist(), high.tolist(), strict=True)),
            marker={"color": SERIES[0], "line": {"width": 0}},
            hovertemplate="%{customdata[0]:.4f} to %{customdata[1]:.4f}: %{y:,}<extra></extra>",
        )
    )
    figure.update_layout(margin=margin)
    figure.update_xaxes(axis(theme, "value"))
    figure.update_yaxes(axis(theme, "values in a bin", rangemode="tozero", grid=True, nticks=6))
    return figure


def describe(edges: Tensor, counts: Tensor) -> str:
    top = int(counts.argmax())
    return (
        f"Histogram of {int(counts.sum()):,} values from {edges[0]:.4f} to {edges[-1]:.4f}; most "
        f"of them, {int(counts[top]):,}, lie between {edges[top]:.4f} and {edges[top + 1]:.4f}."
    )
