"""A figure of Plotly's on a sheet: its curves, bars and maps are drawn from its data."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from viz.paper.axes import SPARE, Axis, decoded, finite, numbers, plain
from viz.paper.lettering import NORMAL, SMALL, broken, width_of
from viz.paper.plot import Plot, along, axis_name, title_of
from viz.paper.plot_frame import below, frames, is_title, notes, room_under, shapes
from viz.paper.scale import LEAST
from viz.paper.sheet import Mark, Sheet, Words
from viz.paper.traces import bars, curves, maps

SHAPE = 0.58
"""Of curves: height by width."""
CELL, TALLEST = 14.0, 560.0
"""Points of a map's cell, and of what is between the axes, at most."""


def plotted(
    figure: go.Figure, width: float, shape: float = SHAPE, tallest: float = TALLEST
) -> Sheet:
    """The figure as wide as this, in points. shape: of curves, height by width; tallest: points of
    what is between the axes, at most.
    """
    said = decoded(figure.to_plotly_json())
    layout = _one_axis_a_side(said["layout"])
    traces = [each for each in said["data"] if each.get("opacity") != 0]
    text = str(layout.get("font", {}).get("color", "#000000"))
    grid = str(_first_axis(layout).get("gridcolor", "#cccccc"))
    dim = str(_first_axis(layout).get("title", {}).get("font", {}).get("color", text))
    title = [line for line in broken(plain(_title(layout)), width, NORMAL) if line]
    top = len(title) * (NORMAL + 3) + 4.0
    axes = _axes(layout, traces, (width, top), shape, tallest)
    plot = Plot(layout, traces, axes, width, text, dim, grid)
    marks: list[Mark] = [
        Words(0, (i + 1) * (NORMAL + 2), line, NORMAL, text) for i, line in enumerate(title)
    ]
    for draw in (frames, maps, bars, shapes, curves, notes):
        marks += draw(plot)
    bottom = max(axis.start for name, axis in plot.axes.items() if name.startswith("y"))
    bottom = max(bottom, *(a.end for n, a in plot.axes.items() if n.startswith("y")))
    legend, height = below(plot, width, bottom + room_under(plot))
    ground = str(layout.get("paper_bgcolor", "#ffffff"))
    return Sheet(width, height, ground, (*marks, *legend))


def _title(layout: Mapping[str, Any]) -> Any:
    """What stands above: a title, or the note that stands in its place."""
    title = layout.get("title") or {}
    said = title.get("text") if isinstance(title, Mapping) else title
    return said or next((each["text"] for each in _notes(layout) if is_title(each)), None)


def _notes(layout: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return layout.get("annotations") or ()


def _one_axis_a_side(layout: Mapping[str, Any]) -> Mapping[str, Any]:
    """Where a second axis lies on the first with fewer labels, its labels are those of both."""
    found = dict(layout)
    for letter in "xy":
        second = layout.get(f"{letter}axis2", {})
        if second.get("matches") == letter:
            names = ("tickvals", "ticktext", "showticklabels", "title")
            labels = {name: second[name] for name in names if name in second}
            found[f"{letter}axis"] = {**layout[f"{letter}axis"], **labels}
    return found


def _first_axis(layout: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = layout.get("xaxis", {})
    return found


def _axes(
    layout: Mapping[str, Any],
    traces: list[Mapping[str, Any]],
    place: tuple[float, float],
    shape: float,
    tallest: float,
) -> dict[str, Axis]:
    """All axes of the figure; the room beside them is that of the longest labels."""
    width, top = place
    names = {axis_name(each.get(f"{c}axis") or c) for each in traces for c in "xy"}
    plain_axes = {name: _ranged(layout, traces, name) for name in names | {"xaxis", "yaxis"}}
    vertical = [axis for name, axis in plain_axes.items() if name.startswith("y")]
    widest = max((width_of(t, SMALL) for a in vertical for _, t in a.ticks()), default=0.0)
    left = min(widest, 0.3 * width) + 5 + (SMALL + 4 if any(map(title_of, vertical)) else 0)
    right = width - 4.0
    maps = [each for each in traces if each["type"] == "heatmap"]
    height = shape * (right - left)
    if maps:
        rows, columns = np.shape(maps[0]["z"])
        cell = min(CELL, (right - left) / columns)
        right = left + max(cell * columns, min(60.0, right - left))
        height = max(cell * rows, 40.0 if cell > LEAST else 0.45 * width)
    elif any(each.get("orientation") == "h" for each in traces):
        n = max((len(each["y"]) for each in traces if each["type"] == "bar"), default=8)
        height = max(40.0, 10.0 * n)
    height = min(height, tallest)
    found = {}
    for name, axis in plain_axes.items():
        start, end = axis.said.get("domain") or (0, 1)
        across = (left + start * (right - left), left + end * (right - left))
        down = (top + (1 - start) * height, top + (1 - end) * height)
        ends = across if name.startswith("x") else down
        found[name] = Axis(axis.said, axis.low, axis.high, *ends, axis.names)
    return found


def _ranged(layout: Mapping[str, Any], traces: list[Mapping[str, Any]], name: str) -> Axis:
    """An axis without a place: from its own range, or from what stands along it."""
    said, letter = layout.get(name, {}), name[0]
    mine = [each for each in traces if axis_name(each.get(f"{letter}axis") or letter) == name]
    values = [along(each, letter) for each in mine]
    is_named = any(isinstance(value, str) for each in values for value in each)
    names = tuple(dict.fromkeys(str(v) for each in values for v in each)) if is_named else ()
    is_log = said.get("type") == "log"
    known = finite(numbers(each, names, is_log) for each in values)
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    has_cells = any(each["type"] == "heatmap" for each in mine)
    has_bars = any(each["type"] == "bar" for each in mine)
    spare = 0.5 if has_cells or names else SPARE * (high - low) or 0.5
    if has_bars and not names:
        low, high = min(low, 0.0), max(high, 0.0)
    low, high = low - spare, high + spare
    if has_bars and not names and low > -2 * spare:
        low = 0.0
    if str(said.get("rangemode")) in ("tozero", "nonnegative"):
        low = min(0.0, low) if low < -spare else 0.0
    if said.get("range") is not None:
        ends = [
            given if given is not None else own
            for given, own in zip(said["range"], (low, high), strict=True)
        ]
        low, high = map(float, ends)
    elif said.get("autorange") == "reversed":
        low, high = high, low
    return Axis(said, low, high, 0.0, 1.0, names)
