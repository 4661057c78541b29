"""Numbers over the steps of a training run, and how a figure of them looks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from viz.exhibits.chart import Axis
from viz.figures.layout import SMALL, axis, layout
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


def steps_to(last: int, log: bool) -> Axis:
    """The horizontal axis from the first step to the last; hovering says the step in full."""
    ends = (1, 1.2 * max(1, last)) if log else (0, 1.02 * last)
    return Axis("step", log, ends, format=",d", hover="step {x:,d}")


def values_of(title: str) -> Axis:
    """The vertical axis: from zero, with quiet lines."""
    return Axis(title, from_zero=True, has_grid=True)


def value_axis(theme: Theme, title: str, **more: Any) -> dict[str, Any]:
    """The vertical axis: from zero, with quiet lines, and numbers as people write them."""
    looks = {"rangemode": "tozero", "exponentformat": "none", "nticks": 6}
    return axis(theme, title, grid=True, **looks) | more
