"""One head at a few snapshots of a training, and below them a metric of all heads, and the loss."""

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go

from viz.figures.curve import curve_layout, value_axis
from viz.figures.layout import axis
from viz.labels import figure_text
from viz.paper.drawing import Drawing, Given
from viz.paper.drawings.head_map import words_beside
from viz.paper.lettering import NORMAL, SMALL, fitted, width_of
from viz.paper.plotted import SHAPE, plotted
from viz.paper.scale import hatched, scale_bar
from viz.paper.shades import levels_of, palette_of
from viz.paper.sheet import Box, Cells, Mark, Sheet, Words, moved
from viz.theme import Theme
from viz.theme import theme as theme_of

BETWEEN = 6.0
"""Points between two maps."""
EACH = 58.0
"""Of width that a map has at least."""
FEWEST, MOST = 2, 6
"""Maps."""
LARGEST_CELL = 12.0
HIGH, LOW = 150.0, 90.0
"""Points that the curves are high at most, and the losses."""
OTHER = 0.55
"""How opaque the curves of other heads are."""


def draw(given: Given, width: float) -> Sheet:
    """Maps from the first step to the last, among them the step that the screen shows."""
    marks, y = _maps(given, width)
    theme, header = theme_of(given.colours["name"]), given.header
    numbers, *losses = given.arrays[2 : 3 + len(header["losses"])]
    curves = plotted(
        _metric(header, numbers, theme, _chosen(header)), width, min(SHAPE, HIGH / width)
    )
    marks += moved(curves.marks, 0, y + 8)
    y += 8 + curves.height
    if any(len(rows) for rows in losses):
        below = plotted(_losses(header, losses, theme), width, min(SHAPE, LOW / width))
        marks += moved(below.marks, 0, y + 8)
        y += 8 + below.height
    return Sheet(width, y, theme.background, tuple(marks))


def _chosen(header: dict[str, Any]) -> int:
    place = [header["layer"], header["head"]]
    return [list(each) for each in header["heads"]].index(place)


def _places(given: Given, n: int) -> list[int]:
    """Snapshots: the first, the last, that on the screen, that of the role, and some between."""
    steps, role = given.header["steps"], given.header["roles"][_chosen(given.header)]
    found = dict.fromkeys((given.state["place"], len(steps) - 1, 0, *([role] if role >= 0 else [])))
    between = np.linspace(0, len(steps) - 1, min(n, len(steps))).round().astype(int).tolist()
    return sorted(list(dict.fromkeys([*found, *between]))[: min(n, len(steps))])


def _maps(given: Given, width: float) -> tuple[list[Mark], float]:
    header, colours = given.header, given.colours
    rows, columns = header["rows"], header["columns"]
    left = 3 + min(0.2 * width, max((width_of(text) for text, _ in rows), default=0))
    n = max(FEWEST, min(MOST, int((width - left) // EACH)))
    places = _places(given, n)
    room = (width - left - BETWEEN * (len(places) - 1)) / len(places)
    n_rows, n_columns = given.arrays[0].shape[1:]
    side = min(LARGEST_CELL, room / n_columns)
    wide, high = side * n_columns, side * n_rows
    labels = min(0.16 * width, max((width_of(text) for text, _ in columns), default=0))
    top = NORMAL + 5 + labels + 4
    title = fitted(f"{header['title']}, {header['name']}", width, NORMAL, is_bold=True)
    marks: list[Mark] = []
    for i, place in enumerate(places):
        x = left + i * (wide + BETWEEN)
        values = given.arrays[0][place]
        facts = {"step": header["steps"][place], "rows": n_rows, "columns": n_columns}
        levels = levels_of(values, tuple(header["bounds"]), False)
        scale = palette_of(colours["scale"], colours["masked"])
        marks.append(Cells(x, top, wide, high, levels, scale, facts | {"weight": values}))
        marks += hatched(np.isnan(values), (x, top, side, side), colours["dim"])
        is_shown = place == given.state["place"]
        frame = colours["accent"] if is_shown else colours["grid"]
        marks.append(Box(x, top, wide, high, None, frame, 1.0 if is_shown else 0.5))
        block = header["block"]
        marks += words_beside(columns, block[1], (x, top - 3), side, labels, colours, True)
        if i == 0:
            marks += words_beside(rows, block[0], (x - 3, top), side, left - 3, colours, False)
        said = fitted(f"step {header['steps'][place]:,}", wide + BETWEEN, SMALL)
        marks.append(
            Words(x + wide / 2, top + high + SMALL + 3, said, SMALL, colours["text"], "middle")
        )
    marks.append(Words(0, NORMAL, title, NORMAL, colours["text"], is_bold=True))
    bar, height = scale_bar(given, width - left, tuple(header["bounds"]))
    y = top + high + SMALL + 8
    return [*marks, *moved(bar, left, y)], y + height


def _metric(
    header: dict[str, Any], numbers: "np.ndarray[Any, Any]", theme: Theme, chosen: int
) -> go.Figure:
    """numbers: [N, T]"""
    metric = header["metric"]
    name = f"{metric['title']} of every head"
    figure = go.Figure(layout=curve_layout(theme, "heads-over-steps", figure_text(name), 200))
    others = [i for i in range(numbers.shape[1]) if i != chosen]
    for i in (*others, chosen):
        layer, head = header["heads"][i]
        look: dict[str, Any] = {"color": theme.dim, "width": 0.5, "dash": "solid"}
        if i == chosen:
            look = {"color": theme.accent, "width": 1.2, "dash": "solid"}
        figure.add_scatter(
            x=_at(header, header["steps"]),
            y=numbers[:, i].astype(float),
            mode="lines+markers" if i == chosen else "lines",
            line=look,
            opacity=1.0 if i == chosen else OTHER,
            name=f"L{layer} H{head}",
            showlegend=i == chosen,
        )
    if metric["even"] is not None:
        ends = _at(header, [header["steps"][0], header["steps"][-1]])
        line = {"color": theme.text, "width": 0.6, "dash": "dot"}
        even = float(metric["even"])
        figure.add_scatter(x=ends, y=[even, even], mode="lines", line=line, name="evenly spread")
    if others:
        dim = {"color": theme.dim, "width": 0.5, "dash": "solid"}
        figure.add_scatter(x=[None], y=[None], mode="lines", line=dim, name="other heads")
    unit = "" if metric["unit"] in ("", "share") else f", {metric['unit']}"
    return _framed(figure, header, theme, f"{metric['title'].lower()}{unit}")


def _losses(
    header: dict[str, Any], losses: list["np.ndarray[Any, Any]"], theme: Theme
) -> go.Figure:
    """losses: [M, 2] each, rows of step and value."""
    figure = go.Figure(layout=curve_layout(theme, "losses", "Loss", 150))
    for i, (name, rows) in enumerate(zip(header["losses"], losses, strict=True)):
        shown = rows[rows[:, 0] <= header["steps"][-1]]
        figure.add_scatter(
            x=_at(header, shown[:, 0].tolist()),
            y=shown[:, 1].astype(float),
            mode="markers" if i else "lines",
            marker={"color": theme.text},
            line={"color": theme.dim, "width": 0.8, "dash": "solid"},
            name=name,
        )
    return _framed(figure, header, theme, "nats per token")


def _framed(figure: go.Figure, header: dict[str, Any], theme: Theme, unit: str) -> go.Figure:
    shift = _shift(header)
    steps = header["steps"]
    labelled = {
        "tickvals": _at(header, steps),
        "ticktext": [f"{step:,}" for step in steps],
    }
    ends = _at(header, [steps[0], steps[-1]])
    spare = 0.02 * (ends[1] - ends[0])
    span = {"range": [ends[0] - spare, ends[1] + spare]}
    figure.update_xaxes(axis(theme, f"step, as log (step + {shift:,})", **labelled, **span))
    figure.update_yaxes(value_axis(theme, figure_text(unit)))
    return figure


def _shift(header: dict[str, Any]) -> int:
    """The first step after 0, so that 0 has a place, as viz/components/snapshot_player/axis.js."""
    return int(next((step for step in header["steps"] if step > 0), 1))


def _at(header: dict[str, Any], steps: list[float]) -> list[float]:
    return [math.log10(step + _shift(header)) for step in steps]


DRAWING = Drawing("snapshot_player", draw, 6.9)
