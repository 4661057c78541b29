"""Axes and marks of a chart as Plotly takes them."""

import html
import math
import re
import unicodedata
from typing import Any

import numpy as np

from transformer.token import Token
from viz.exhibits.chart import (
    POWER,
    Axis,
    Bars,
    Cells,
    Chart,
    Curve,
    Dash,
    Grid,
    Point,
    Rule,
    Shading,
    Span,
)
from viz.labels import figure_label, figure_text, label, number
from viz.painters.shades import colour_of, stops_of
from viz.theme import FONT_SIZE, Theme

# Hover texts as Plotly takes them.


def template(text: str) -> str:
    """A hover text in Plotly's form.

    >>> template("{y:.2f} of {0}")
    '%{y:.2f} of %{customdata[0]}'
    """
    words = html.escape(text, quote=False).replace("\n", "<br>")
    return re.sub(r"\{(\d)", r"%{customdata[\1]", re.sub(r"\{([xyz])", r"%{\1", words))


# Axes of a chart as Plotly takes them, and the room around the cells.
#
# It is worked out here: Plotly would draw the axes three times to find it.

LABEL = FONT_SIZE
"""Pixels of labels of axes, and secondary text."""
ROW, CLOSE_ROW, MIN_ROW = 26, 16, 3
"""Pixels a row: with few tokens, with many, with more than can be labelled."""
GAP = 5
"""Pixels between an axis and its labels."""
COMFORTABLE, TALLEST = 520, 780
"""Pixels of the plotted area that rows share before they get closer, and at most."""
NUMBERED = 400
"""The same, at most, when rows have numbers instead of labels."""
MAX_LEVEL = 6
"""Labels of columns stand upright from here on: level ones would meet in a narrow figure."""
TOP, BAR = 44, 76
"""Pixels for the title, and for the colour bar with its labels."""
LEGEND, TITLE, LINE_OF_TITLE = 66, 44, 16
"""Pixels under a chart for the title of its axis and a legend; without one; for another line."""
LINE, LABEL_SPACE = 36, (20, 240)
"""Pixels for an axis' title with the gaps around it; for its labels, at least and at most."""
FEW_STEPS = 10
"""Whole numbers up to here are all written: numbers between them would be rounded to the same."""


def axes_of(chart: Chart, theme: Theme) -> dict[str, Any]:
    """All axes by their names. They are given at once: updating them costs twice as much."""
    axes = {"x": _axis(chart.x, theme), "y": _axis(chart.y, theme)}
    axes["y"] = {"exponentformat": "none"} | axes["y"]
    if chart.size is None:
        axes["y"]["nticks"] = 6
    else:
        frame = {"automargin": False, "showline": True, "mirror": True, "linecolor": theme.grid}
        for name, ends in zip("xy", chart.edges, strict=True):
            axes[name] |= frame | {"range": list(ends), "layer": "below traces"}
        axes["x"]["tickangle"] = -90 if _is_upright(chart) else 0
    if chart.n_bars:
        axes["y"]["range"] = [chart.n_bars - 0.5, -0.5]
    if chart.is_square:
        axes["x"] |= {"constrain": "domain", "constraintoward": "left"}
        axes["y"] |= {"constrain": "domain", "constraintoward": "top", "scaleanchor": "x"}
    if _few_steps(chart):
        axes["x"]["dtick"] = 1
    thin = {name: it for name, it in (("x", chart.x), ("y", chart.y)) if _is_thin(it)}
    return {f"{name}axis": it for name, it in axes.items()} | _thinned(thin, axes)


def plotted_height(chart: Chart) -> int:
    """Pixels between the axes: token rows must stay readable, numbered ones need not."""
    n_rows = chart.size[0] if chart.size else chart.n_bars
    if chart.height or not n_rows:
        return chart.height
    return rows_height(n_rows) if chart.y.labels else min(rows_height(n_rows), NUMBERED)


def rows_height(n: int) -> int:
    """Pixels of the plotted area for n rows: roomy, then closer, then fixed."""
    if n * ROW <= COMFORTABLE:
        return max(n, 3) * ROW
    return max(COMFORTABLE, min(n * CLOSE_ROW, TALLEST), n * MIN_ROW)


def margin_of(chart: Chart) -> dict[str, Any]:
    """Pixels around the plotted area."""
    if not chart.y.is_labelled:
        return {"t": TOP + 2, "l": 4, "r": 4, "b": 4}
    if chart.size is not None:
        below = _widest(chart.x, 0) if _is_upright(chart) else LABEL_SPACE[0]
        has_bar = any(isinstance(mark, Grid) for mark in chart.marks) and not chart.is_square
        left, right = LINE + _widest(chart.y, chart.size[0]), BAR if has_bar else 8
        return {"t": TOP, "l": left, "b": LINE + below, "r": right, "autoexpand": False}
    has_legend = chart.has_legend and any(
        isinstance(mark, Curve | Bars) and mark.name for mark in chart.marks
    )
    below = LINE_OF_TITLE * chart.x.title.count("\n")
    return {"t": TOP, "l": 8, "r": 16, "b": (LEGEND if has_legend else TITLE) + below}


def label_width(text: str) -> int:
    """Pixels that a label takes at most in a common sans-serif font."""
    ems = (1.05 if unicodedata.east_asian_width(c) in "WF" else _EMS.get(c, 0.62) for c in text)
    return math.ceil(FONT_SIZE * sum(ems))


_EMS = dict.fromkeys("mwMWGOQ@%—…", 0.95) | dict.fromkeys("iljtf.,:;'|! ", 0.4)
"""Widths of characters that are not 0.62 of the font's size."""


def _axis(side: Axis, theme: Theme) -> dict[str, Any]:
    """An axis that only says what is needed; labels are never clipped."""
    title = "<br>".join(figure_text(line) for line in side.title.split("\n"))
    look: dict[str, Any] = {
        "title": {"text": title, "font": {"size": LABEL, "color": theme.dim}, "standoff": 8},
        "automargin": True,
        "showgrid": side.has_grid,
        "gridcolor": theme.grid,
        "zeroline": False,
        "showline": False,
        "ticks": "",
        "ticklabelstandoff": GAP,
        "ticklabeloverflow": "allow",  # Plotly would measure each label, several times over
        "tickfont": {"size": LABEL, "color": theme.text},
    }
    if side.hover:
        look["unifiedhovertitle"] = {"text": template(side.hover)}
    if side.is_log:
        look |= {"type": "log"} | ({} if side.ticks else {"dtick": 1})
    if side.ends is not None:
        look["range"] = [math.log10(each) if side.is_log else each for each in side.ends]
    if side.from_zero:
        look["rangemode"] = "tozero"
    if side.format:
        look |= {"tickformat": side.format, "hoverformat": side.format}
    return look | _ticks(side, theme)


def _ticks(side: Axis, theme: Theme) -> dict[str, Any]:
    """Labels stand at numbers, so that repeated ones stay apart."""
    texts = [_label(each, theme) for each in side.labels]
    ticks = side.ticks or list(enumerate(texts))
    if not ticks:
        return {} if side.is_labelled else {"showticklabels": False}
    return {
        "tickmode": "array",
        "tickvals": [value for value, _ in ticks],
        "ticktext": [figure_text(text) for _, text in ticks] if side.ticks else texts,
        "showticklabels": side.is_labelled and not _is_thin(side),
    }


def _label(each: Token | str, theme: Theme) -> str:
    return figure_text(each) if isinstance(each, str) else figure_label(each, theme.dim)


def _is_thin(side: Axis) -> bool:
    return side.is_labelled and len(side.labels) > side.most_labels


def _thinned(sides: dict[str, Axis], axes: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Long axes: a second one on top of the first carries every n-th label.

    The first one keeps all its (hidden) labels, because hovering takes its text from them.
    """
    thin = {}
    for name, side in sides.items():
        every = -(-len(side.labels) // side.most_labels)
        thin[f"{name}axis2"] = axes[name] | {
            "tickvals": axes[name]["tickvals"][::every],
            "ticktext": axes[name]["ticktext"][::every],
            "showticklabels": True,
            "showline": False,  # the first one has it
            **{"overlaying": name, "matches": name, "side": "bottom" if name == "x" else "left"},
        }
        axes[name]["title"] = {"text": None}
    return thin


def _is_upright(chart: Chart) -> bool:
    return len(chart.x.labels) > MAX_LEVEL


def _widest(side: Axis, n: int) -> int:
    """Pixels that the longest label along this side needs. n: numbers where it has no labels."""
    least, most = LABEL_SPACE
    texts = [each if isinstance(each, str) else label(each) for each in side.labels]
    widths = map(label_width, texts or ([f"{n - 1:,}"] if n else []))
    return min(most, max(least, *widths, 0) + GAP)


def _few_steps(chart: Chart) -> bool:
    """Say whether x has whole numbers, so few that all can be written."""
    places = [np.asarray(m.x, float) for m in chart.marks if isinstance(m, Curve) and len(m.x)]
    if not chart.x.format.endswith("d") or chart.x.is_log or not places:
        return False
    return bool(max(it.max() for it in places) - min(it.min() for it in places) < FEW_STEPS)


# Marks of a chart as Plotly takes them: traces, shapes and notes.

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
                marker = {"color": colour_of(mark.ink, theme), "size": 9}
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
