"""One head at a few snapshots of a training, and below them a metric of all heads, and the loss."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from viz.exhibits.chart import Axis, Chart, Curve, values_of
from viz.painters.chart_sheet import SHAPE, sheet
from viz.painters.shades import levels_of, palette_of
from viz.paper.drawings.head_map import words_beside
from viz.paper.sheet import (
    NORMAL,
    SMALL,
    Box,
    Cells,
    Data,
    Drawing,
    Mark,
    Sheet,
    Words,
    fitted,
    hatched,
    law_of_map,
    moved,
    scale_bar,
    width_of,
)
from viz.theme import theme as theme_of

BETWEEN = 6.0
"""Points between two maps."""
EACH = 58.0
"""Points of width that a map has at least."""
FEWEST, MOST = 2, 6
"""Maps."""
LARGEST_CELL = 12.0
HIGH, LOW = 150.0, 90.0
"""Points that the curves are high at most, and the losses."""
OTHER = 0.55
"""Opacity of the curves of other heads."""


def draw(data: Data, width: float) -> Sheet:
    """Maps from the first step to the last, among them the step that the screen shows."""
    marks, y = _maps(data, width)
    theme, header = theme_of(data.colours["name"]), data.header
    numbers, *losses = data.arrays[2 : 3 + len(header["losses"])]
    charts = [(_metric(header, numbers, _chosen(header)), HIGH)]
    charts += [(_losses(header, losses), LOW)] if any(len(rows) for rows in losses) else []
    for chart, high in charts:
        below = sheet(chart, theme, width, min(SHAPE, high / width))
        marks += moved(below.marks, 0, y + 8)
        y += 8 + below.height
    return Sheet(width, y, theme.background, tuple(marks))


def _chosen(header: dict[str, Any]) -> int:
    place = [header["layer"], header["head"]]
    return [list(each) for each in header["heads"]].index(place)


def _places(data: Data, n: int) -> list[int]:
    """Snapshots: the first, the last, that on the screen, that of the role, and some between."""
    steps, role = data.header["steps"], data.header["roles"][_chosen(data.header)]
    places = dict.fromkeys((data.state["place"], len(steps) - 1, 0, *([role] if role >= 0 else [])))
    between = np.linspace(0, len(steps) - 1, min(n, len(steps))).round().astype(int).tolist()
    return sorted(list(dict.fromkeys([*places, *between]))[: min(n, len(steps))])


def _maps(data: Data, width: float) -> tuple[list[Mark], float]:
    header, colours = data.header, data.colours
    rows, columns = header["rows"], header["columns"]
    left = 3 + min(0.2 * width, max((width_of(text) for text, _ in rows), default=0))
    n = max(FEWEST, min(MOST, int((width - left) // EACH)))
    places = _places(data, n)
    room = (width - left - BETWEEN * (len(places) - 1)) / len(places)
    n_rows, n_columns = data.arrays[0].shape[1:]
    side = min(LARGEST_CELL, room / n_columns)
    wide, high = side * n_columns, side * n_rows
    labels = min(0.16 * width, max((width_of(text) for text, _ in columns), default=0))
    top = NORMAL + 5 + labels + 4
    title = fitted(f"{header['title']}, {header['name']}", width, NORMAL, is_bold=True)
    marks: list[Mark] = []
    for i, place in enumerate(places):
        x = left + i * (wide + BETWEEN)
        values = data.arrays[0][place]
        facts = {"step": header["steps"][place], "rows": n_rows, "columns": n_columns}
        levels = levels_of(values, tuple(header["bounds"]), not data.is_linear)
        scale = palette_of(colours["scale"], colours["masked"])
        marks.append(Cells(x, top, wide, high, levels, scale, facts | {"weight": values}))
        marks += hatched(np.isnan(values), (x, top, side, side), colours["dim"])
        is_shown = place == data.state["place"]
        frame = colours["accent"] if is_shown else colours["grid"]
        marks.append(Box(x, top, wide, high, None, frame, 1.0 if is_shown else 0.5))
        block = header["block"]
        marks += words_beside(columns, block[1], (x, top - 3), side, labels, colours, True)
        if i == 0:
            marks += words_beside(rows, block[0], (x - 3, top), side, left - 3, colours, False)
        words = fitted(f"step {header['steps'][place]:,}", wide + BETWEEN, SMALL)
        marks.append(
            Words(x + wide / 2, top + high + SMALL + 3, words, SMALL, colours["text"], "middle")
        )
    marks.append(Words(0, NORMAL, title, NORMAL, colours["text"], is_bold=True))
    bar, height = scale_bar(data, width - left, tuple(header["bounds"]))
    y = top + high + SMALL + 8
    return [*marks, *moved(bar, left, y)], y + height


def _metric(header: dict[str, Any], numbers: "np.ndarray[Any, Any]", chosen: int) -> Chart:
    """numbers: [N, T]"""
    metric, steps = header["metric"], _at(header, header["steps"])
    thin = Curve("other heads", (math.nan,), (math.nan,), "dim", width=0.5, dash="solid")
    names = [f"L{layer} H{head}" for layer, head in header["heads"]]
    curves = [
        replace(thin, name=names[i], x=steps, y=line, opacity=OTHER, is_in_legend=False)
        for i, line in enumerate(numbers.T)
        if i != chosen
    ]
    marks = [
        *curves,
        Curve(names[chosen], steps, numbers[:, chosen], "accent", dash="solid", point=6),
    ]
    if metric["even"] is not None:
        ends, even = (steps[0], steps[-1]), 2 * [float(metric["even"])]
        marks.append(Curve("evenly spread", ends, even, "text", width=0.6, dash="dot"))
    unit = "" if metric["unit"] in ("", "share") else f", {metric['unit']}"
    y, title = values_of(f"{metric['title'].lower()}{unit}"), f"{metric['title']} of every head"
    marks += [thin] if curves else []
    return Chart("heads-over-steps", "", title, _steps(header), y, marks)


def _losses(header: dict[str, Any], losses: list["np.ndarray[Any, Any]"]) -> Chart:
    """losses: [M, 2] each, rows of step and value."""
    curves = []
    for i, (name, rows) in enumerate(zip(header["losses"], losses, strict=True)):
        steps, values = rows[rows[:, 0] <= header["steps"][-1]].T
        look = Curve(name, _at(header, steps.tolist()), values, "dim", width=0.8, dash="solid")
        curves.append(replace(look, ink="text", width=0, point=6) if i else look)
    return Chart("losses", "", "Loss", _steps(header), values_of("nats per token"), curves)


def _steps(header: dict[str, Any]) -> Axis:
    """All snapshots along it, with a little room."""
    steps = header["steps"]
    ticks = [(at, f"{step:,}") for at, step in zip(_at(header, steps), steps, strict=True)]
    (first, _), (last, _) = ticks[0], ticks[-1]
    spare = 0.02 * (last - first)
    title = f"step, as log (step + {_shift(header):,})"
    return Axis(title, ends=(first - spare, last + spare), ticks=ticks)


def _shift(header: dict[str, Any]) -> int:
    """The first step after 0, so that 0 has a place, as viz/components/snapshot_player/axis.js."""
    return int(next((step for step in header["steps"] if step > 0), 1))


def _at(header: dict[str, Any], steps: list[float]) -> list[float]:
    return [math.log10(step + _shift(header)) for step in steps]


DRAWING = Drawing("snapshot_player", draw, 6.9, law_of_map)
