"""Axes of a chart as Plotly takes them, and the room around the cells.

It is worked out here: Plotly would draw the axes three times to find it.
"""

import math
import unicodedata
from typing import Any

import numpy as np

from transformer.token import Token
from viz.exhibits.chart import Axis, Bars, Chart, Curve, Grid
from viz.labels import figure_label, figure_text, label
from viz.painters.plotly_text import template
from viz.theme import FONT_SIZE, Theme

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
