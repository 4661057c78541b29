"""Marks of a chart as Plotly takes them: traces, shapes and notes."""

import math
from typing import Any

import numpy as np

from viz.exhibits.chart import Bars, Cells, Chart, Curve, Dash, Grid, Point, Rule, Span
from viz.exhibits.shading import POWER, Shading
from viz.labels import figure_text, number
from viz.painters.inks import colour_of
from viz.painters.plotly_axes import LABEL
from viz.painters.plotly_text import template
from viz.painters.shades import stops_of
from viz.theme import Theme

Look = dict[str, Any]
UNNAMED = "<extra></extra>"
"""Keeps the name of a trace from its hover text."""


def traces_of(chart: Chart, theme: Theme) -> list[Look]:
    """Whatever holds data, in the order of the marks."""
    traces: list[Look] = []
    for mark in chart.marks:
        match mark:
            case Curve():
                traces.append(_curve(mark, theme))
            case Bars():
                traces.append(_bars(mark, theme))
            case Grid():
                traces.append(_grid(mark, chart.is_square, theme))
            case Cells():
                traces.append(_cells(mark, not traces, theme))
            case Point():
                marker = {"color": theme.accent, "size": 9}
                place = {"x": [mark.x], "y": [mark.y], "mode": "markers", "marker": marker}
                traces.append({"type": "scatter", **place} | _silent())
    return traces


def shapes_of(chart: Chart, theme: Theme) -> list[Look]:
    """Rules and spans, from the bottom to the top."""
    shapes: list[Look] = []
    for mark in chart.marks:
        if isinstance(mark, Rule):
            ends: Look = {"x0": mark.at, "x1": mark.at, "y0": 0, "y1": 1, "yref": "y domain"}
            line = {"color": colour_of(mark.ink, theme), "width": 1, "dash": dash_of(mark.dash)}
            shapes.append({"type": "line", **ends, "line": line})
        elif isinstance(mark, Span):
            ends = {"x0": mark.start, "x1": mark.end, "y0": 0, "y1": 1, "yref": "y domain"}
            look = {"fillcolor": theme.surface, "line": {"width": 0}, "layer": "below"}
            shapes.append({"type": "rect"} | ends | look)
    return shapes


def notes_of(chart: Chart, theme: Theme) -> list[Look]:
    """The words of rules and points."""
    notes = []
    for mark in chart.marks:
        if isinstance(mark, Rule) and mark.text:
            notes.append(_beside(mark, chart, theme))
        elif isinstance(mark, Point):
            notes.append(_at_point(mark, chart.x.is_log, theme))
    return notes


def _note(text: str, colour: str) -> Look:
    font = {"size": LABEL, "color": colour}
    return {"text": figure_text(text), "showarrow": False, "font": font}


def _beside(rule: Rule, chart: Chart, theme: Theme) -> Look:
    """At the line, on the side that has room. Notes want the logarithm, shapes do not."""
    return _note(rule.text, colour_of(rule.ink, theme)) | {
        "x": math.log10(rule.at) if chart.x.is_log else rule.at,
        "xanchor": "right" if chart.is_right(rule.at) else "left",
        **{"y": int(rule.place == "top"), "yref": "paper", "yanchor": "bottom"},
    }


def _at_point(point: Point, is_log: bool, theme: Theme) -> Look:
    is_left = point.side == "left"
    return _note(point.text, theme.text) | {
        "x": math.log10(point.x) if is_log else point.x,
        "y": point.y,
        **{"xanchor": "right" if is_left else "left", "xshift": -8 if is_left else 8},
        **{"yanchor": "bottom", "yshift": 4},
        "bgcolor": theme.background,  # other curves may pass there
    }


def _curve(curve: Curve, theme: Theme) -> Look:
    colour = colour_of(curve.ink, theme)
    has_points = curve.point > 0 or bool(curve.sizes)
    parts = ["lines"] * (curve.width > 0) + ["markers"] * has_points
    look: Look = {
        **{"type": "scatter", "x": np.asarray(curve.x), "y": np.asarray(curve.y)},
        **{"name": figure_text(curve.name), "mode": "+".join(parts) or "lines"},
        "line": {"color": colour, "width": curve.width},
        "showlegend": bool(curve.name) and curve.is_in_legend,
    }
    if curve.dash is not None:
        look["line"]["dash"] = dash_of(curve.dash)
    if curve.opacity < 1:
        look["opacity"] = curve.opacity
    if has_points:
        sizes = list(curve.sizes) or curve.point
        look["marker"] = {"size": sizes} | ({} if curve.width else {"color": colour})
    if curve.sizes:  # they may lie on each other
        look["marker"] |= {"opacity": 0.85, "line": {"width": 1, "color": theme.background}}
    if curve.is_ring:
        look["marker"] |= {"symbol": "circle-open", "line": {"width": 1.5}}
    if curve.fill == "before":
        look |= {"fill": "tonexty", "fillcolor": theme.grid}
    elif curve.fill == "stack":
        look["stackgroup"] = "all"
    if not curve.hover:
        return look | {"hoverinfo": "skip"}
    hover = template(curve.hover) + ("" if curve.name else UNNAMED)
    return look | {"hovertemplate": hover} | _further(curve.more)


def dash_of(dash: Dash) -> str:
    """Return the dash as Plotly spells it."""
    return dash if isinstance(dash, str) else ",".join(f"{each}px" for each in dash)


def _bars(bars: Bars, theme: Theme) -> Look:
    colours = [colour_of(ink, theme) for ink in bars.inks]
    at, values = np.asarray(bars.at), np.asarray(bars.values)
    look: Look = {
        "type": "bar",
        **({"x": values, "y": at, "orientation": "h"} if bars.is_level else {"x": at, "y": values}),
        "name": figure_text(bars.name),
        "marker": {"color": colours[0] if len(colours) == 1 else colours, "line": {"width": 0}},
        "hovertemplate": template(bars.hover) + UNNAMED,
        "showlegend": bool(bars.name),
    }
    if bars.texts:
        font = {"size": LABEL, "color": theme.dim if bars.name else theme.text}
        place = {"textposition": "outside", "textangle": 0, "constraintext": "none"}
        texts = [figure_text(text) for text in bars.texts]
        look |= {"text": texts, "textfont": font, "cliponaxis": False} | place
    return look | _further(bars.more)


def _further(more: Any) -> Look:
    """Further values for the hover text; words among them show as they stand."""
    rows = [[figure_text(it) if isinstance(it, str) else it for it in row] for row in more]
    return {"customdata": rows} if rows else {}


def _grid(grid: Grid, is_square: bool, theme: Theme) -> Look:
    shading = grid.shading
    (y0, dy), (x0, dx) = grid.rows, grid.columns
    return {
        **{"type": "heatmap", "z": grid.values, "zmin": shading.low, "zmax": shading.high},
        **{"x0": x0, "dx": dx, "y0": y0, "dy": dy},
        "colorscale": _stops(shading, theme),
        "colorbar": _level_bar(shading, theme) if is_square else _bar(shading, theme),
        "hovertemplate": template(grid.hover) + UNNAMED,
        "hoverongaps": False,
        "customdata": grid.more,
    }


def _stops(shading: Shading, theme: Theme) -> list[tuple[float, str]]:
    """Colours at even places of the law of shading, as shares of the values."""
    colours, power = stops_of(shading.scale, theme), POWER if shading.is_rooted else 1
    return [((i / (len(colours) - 1)) ** power, colour) for i, colour in enumerate(colours)]


def _cells(cells: Cells, is_lowest: bool, theme: Theme) -> Look:
    """One colour; the lowest sheet is of bytes, which are a quarter: nothing is seen through it."""
    z = cells.where.astype(np.uint8 if is_lowest else np.float32)
    if not is_lowest:
        z[~cells.where] = math.nan
    colour, gap = colour_of(cells.ink, theme), int(cells.has_gaps)
    return {
        **{"type": "heatmap", "z": z, "zmin": 0, "zmax": 1, "showscale": False},
        "colorscale": [(0, theme.background if is_lowest else colour), (1, colour)],
        **{"xgap": gap, "ygap": gap, "name": figure_text(cells.name)},
        "hovertemplate": template(cells.hover) + UNNAMED,
        "hoverongaps": False,
    }


def _bar(shading: Shading, theme: Theme) -> Look:
    """Beside the cells."""
    low, high = shading.low, shading.high
    below, above = ("≤ ", "≥ ") if shading.is_clipped else ("", "")
    font = {"size": LABEL, "color": theme.dim}
    places = [low, (low + high) / 2, high]
    texts = [number(value, 3, "g") for value in places]
    return {
        "title": {"text": shading.legend, "side": "right", "font": font},
        **{"thickness": 10, "len": 0.6, "lenmode": "fraction", "x": 1.01, "xpad": 6},
        **{"outlinewidth": 0, "ticks": "", "tickfont": font},
        "tickvals": places,
        "ticktext": [below + texts[0], texts[1], above + texts[2]],
    }


def _level_bar(shading: Shading, theme: Theme) -> Look:
    """The same above the cells, where it takes no width from them and reads as a line."""
    bar = _bar(shading, theme)
    place = {"x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom", "ypad": 8}
    size = {"orientation": "h", "lenmode": "pixels", "len": 220}
    return bar | place | size | {"title": bar["title"] | {"side": "top"}}


def _silent() -> Look:
    return {"hoverinfo": "skip", "showlegend": False}
