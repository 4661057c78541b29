"""A head's mean weight by offset, in two runs: how far back and ahead it looks."""

import plotly.graph_objects as go

from transformer.positions.relative_bias import ByDistance
from viz.figures.curve import Curve, curve_layout, line, value_axis
from viz.figures.layout import axis
from viz.labels import figure_text
from viz.theme import Theme

HEIGHT = 240
MARKED = 80
"""Offsets beyond which points have no marks."""


def offset_curves(
    before: ByDistance, after: ByDistance, names: tuple[str, str], head: str, theme: Theme
) -> go.Figure:
    """names: of both runs; head: "Encoder L0 H3"."""
    title = f"<b>{figure_text(head)}</b>: mean weight by offset"
    figure = go.Figure(layout=curve_layout(theme, f"offset_curves {head}", title, HEIGHT))
    mode = "lines+markers" if len(before.distances) <= MARKED else "lines"
    for found, name, colour in zip((before, after), names, (theme.dim, theme.accent), strict=True):
        distances, means = found.distances.tolist(), found.mean[0].tolist()
        curve = Curve(name, tuple(distances), tuple(means))
        dash = "dot" if colour == theme.dim else "solid"
        stroke = {"color": colour, "width": 2, "dash": dash}
        look = {"mode": mode, "marker": {"size": 5}, "line": stroke}
        counts = found.count[0].tolist()
        figure.add_trace(
            line(curve, colour, "%{y:.4f} (mean of %{customdata})", customdata=counts, **look)
        )
    figure.update_xaxes(
        axis(
            theme,
            "position of the key − position of the query",
            hover="offset %{x:+d}",
            tickformat="+d",
        ),
    )
    figure.update_yaxes(value_axis(theme, "mean of open cells"))
    return figure


def describe(before: ByDistance, after: ByDistance, names: tuple[str, str], head: str) -> str:
    """Where each run looks most, in a sentence."""
    said = []
    for found, name in zip((before, after), names, strict=True):
        best = int(found.mean[0].argmax())
        offset, mean = int(found.distances[best]), float(found.mean[0, best])
        said.append(f"{name} most at offset {offset:+d} ({mean:.3f})")
    return f"Mean weight of {head} by offset: {', '.join(said)}."
