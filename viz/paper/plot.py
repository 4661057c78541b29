"""A figure of Plotly's taken apart: its layout, its traces, and its axes in points."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from viz.paper.axes import Axis, plain
from viz.paper.shades import N_LEVELS, colour_at

DASHES: tuple[tuple[float, ...], ...] = ((), (4, 1.5), (1, 1.2), (5, 1.2, 1, 1.2), (2.2, 1.2))
"""Curves are told apart without colour, too: in turn."""
SAID: dict[str, tuple[float, ...]] = {
    "solid": (),
    "dash": (4.0, 2.0),
    "dot": (1.0, 1.5),
    "dashdot": (5.0, 1.5, 1.0, 1.5),
}
"""What Plotly calls them."""


@dataclass(frozen=True, eq=False)
class Plot:
    """A figure's parts, with its axes in points."""

    layout: Mapping[str, Any]
    traces: list[Mapping[str, Any]]
    axes: Mapping[str, Axis]
    width: float
    ink: str
    dim: str
    grid: str

    def of(self, trace: Mapping[str, Any], letter: str) -> Axis:
        return self.axes[axis_name(trace.get(f"{letter}axis") or letter)]


def axis_name(reference: str) -> str:
    """ "x2" -> "xaxis2"."""
    return f"{reference[0]}axis{reference[1:]}"


def title_of(axis: Axis) -> str:
    """What stands along an axis."""
    return " ".join(lines_of(axis))


def lines_of(axis: Axis) -> list[str]:
    """The same as it is broken into lines."""
    title = axis.said.get("title") or {}
    said = title.get("text") if isinstance(title, Mapping) else title
    return [line for part in re.split(r"<br ?/?>", str(said or "")) if (line := plain(part))]


def along(trace: Mapping[str, Any], letter: str) -> list[Any]:
    """Values of a trace along x or y; where it has none, they are counted."""
    values = trace.get(letter)
    if values is not None:
        return list(values)
    if trace["type"] == "heatmap":
        return list(range(np.shape(trace["z"])[letter == "x"]))
    other = trace.get("y" if letter == "x" else "x")
    return list(range(len(other) if other is not None else 0))


def scale_of(trace: Mapping[str, Any]) -> tuple[str, ...]:
    """N_LEVELS colours of Plotly's stops."""
    stops = [(float(at), str(colour)) for at, colour in trace["colorscale"]]
    colours = []
    for share in np.linspace(0, 1, N_LEVELS):
        i = max(1, next((i for i, (at, _) in enumerate(stops) if at >= share), len(stops) - 1))
        (low, first), (high, last) = stops[i - 1], stops[i]
        colours.append(colour_at([first, last], (share - low) / ((high - low) or 1)))
    return tuple(colours)


def colour_of(trace: Mapping[str, Any], part: str, otherwise: str) -> str:
    """The one colour of a trace's line or markers, where it has one."""
    found = (trace.get(part) or {}).get("color")
    return found if isinstance(found, str) and found.startswith("#") else otherwise


def dashes_of(trace: Mapping[str, Any], order: int) -> tuple[float, ...]:
    """Those that the trace names, else those of its turn."""
    said = (trace.get("line") or {}).get("dash")
    return SAID.get(str(said), DASHES[order % len(DASHES)])
