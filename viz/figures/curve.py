"""Numbers over the steps of a training run, and how a figure of them looks."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from viz.figures.layout import SMALL, axis, layout
from viz.labels import figure_text
from viz.theme import Theme

LEGEND = 66
"""Pixels under a figure for the title of its axis and one or two lines of legend."""


@dataclass(frozen=True)
class Curve:
    """One value per step."""

    name: str
    steps: tuple[int, ...]
    values: tuple[float, ...]


def saved(history: Sequence[Mapping[str, float]], field: str, name: str) -> Curve:
    """What a checkpoint's history has of a field; most rows lack most fields."""
    rows = [row for row in history if field in row]
    return Curve(name, tuple(int(row["step"]) for row in rows), tuple(row[field] for row in rows))


def line(curve: Curve, colour: str, hover: str, **more: Any) -> go.Scatter:
    """A curve as Plotly draws it. hover: the number's format and its unit."""
    return go.Scatter(
        x=curve.steps,
        y=curve.values,
        name=figure_text(curve.name),
        hovertemplate=hover,
        **{"mode": "lines", "line": {"color": colour, "width": 2}} | more,
    )


def curve_layout(theme: Theme, id: str, title: str, height: int, **more: Any) -> go.Layout:
    """A title above, one hover for all curves of a step, and a legend under the axis."""
    legend = {
        "orientation": "h",
        "x": 0,
        "y": 0,
        "yref": "container",  # the very bottom: there it meets neither title nor axis
        "yanchor": "bottom",
        "font": {"size": SMALL},
        "traceorder": "normal",
    }
    margin = {"l": 8, "r": 16, "t": 44, "b": LEGEND}
    looks = {"height": height, "margin": margin, "legend": legend, "showlegend": True}
    return layout(theme, id, title, **looks | {"hovermode": "x unified"} | more)


def step_axis(theme: Theme, last: int, log: bool) -> dict[str, Any]:
    """The horizontal axis from the first step to the last; hovering says the step in full."""
    kind: dict[str, Any] = {"range": [0, 1.02 * last]}
    if log:
        kind = {"type": "log", "dtick": 1, "range": [0, math.log10(1.2 * max(1, last))]}
    return axis(theme, "step", tickformat=",d", hoverformat=",d", hover="step %{x:,d}") | kind


def value_axis(theme: Theme, title: str, **more: Any) -> dict[str, Any]:
    """The vertical axis: from zero, with quiet lines, and numbers as people write them."""
    looks = {"rangemode": "tozero", "exponentformat": "none", "nticks": 6}
    return axis(theme, title, grid=True, **looks) | more
