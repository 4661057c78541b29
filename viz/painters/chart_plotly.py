"""A chart on a screen: a figure of Plotly's. No other module knows Plotly."""

import textwrap
from typing import Any

from viz.app_packages import go
from viz.exhibits.chart import Bars, Chart, Curve, Grid
from viz.export import page_html
from viz.labels import figure_text
from viz.painters.plotly_axes import (
    LABEL,
    axes_of,
    margin_of,
    notes_of,
    plotted_height,
    shapes_of,
    traces_of,
)
from viz.theme import FONT, FONT_SIZE, Theme

CONFIG = {"showSendToCloud": False, "displaylogo": False, "responsive": True}
"""Plotly's options: no button that uploads."""
LEVEL_BAR = 56
"""Pixels above the cells for a level colour bar."""
WIDE = 44
"""Letters of a line of a sentence."""


def figure(chart: Chart, theme: Theme) -> "go.Figure":
    """The chart; its layout's meta is the chart's name, for tests in a browser."""
    if chart.instead:
        return go.Figure(layout=_sentence(chart, theme))
    title, margin, height = _title(chart, theme), margin_of(chart), plotted_height(chart)
    notes, shapes = notes_of(chart, theme), shapes_of(chart, theme)
    axes, traces = axes_of(chart, theme), traces_of(chart, theme)
    if chart.is_square and _has_bar(chart):
        margin["t"] += LEVEL_BAR  # Plotly moves a title out of sight for it: here it is a note
        notes = [_note_above(title.pop("text"), margin["l"], theme), *notes]
    looks = _looks(theme) | {
        "meta": {"id": chart.name},
        "title": title,
        "height": height + margin["t"] + margin["b"],
        "margin": margin,
        "hovermode": _hover_mode(chart),
        "showlegend": chart.has_legend and any(_names(chart)),
        "legend": _legend(chart, theme),
        "dragmode": "pan" if chart.is_for_choice else "zoom",  # with a lasso no click would choose
        "bargap": 1 - _width_of_bars(chart),
        "shapes": shapes,
        "annotations": notes,
    }
    if "xaxis2" in axes or "yaxis2" in axes:
        traces.append(_that_wakes(axes))
    return go.Figure(traces, looks | axes)


def figure_html(made: "go.Figure", title: str) -> bytes:
    """A page that shows the figure without a network: Plotly's code (5 MB) is inside."""
    body = made.to_html(full_html=False, include_plotlyjs=True, config=CONFIG)
    return page_html(title, body, made.layout.paper_bgcolor).encode()


def _looks(theme: Theme) -> dict[str, Any]:
    """Whatever all charts share."""
    return {
        "template": "none",
        "font": {"family": FONT, "size": FONT_SIZE, "color": theme.text},
        "paper_bgcolor": theme.background,
        "plot_bgcolor": theme.background,
        "hoverlabel": {
            "bgcolor": theme.surface,
            "bordercolor": theme.grid,
            "font": {"size": FONT_SIZE, "color": theme.text},
            "align": "left",
        },
    }


def _title(chart: Chart, theme: Theme) -> dict[str, Any]:
    """Bold words, plain ones, and further lines."""
    more, *lines = chart.more.split("\n")
    text = f"<b>{figure_text(chart.title)}</b>" if chart.title else ""
    below = "".join(f"<br>{figure_text(line)}" for line in lines)
    return {
        "text": text + figure_text(more) + below,
        "font": {"size": FONT_SIZE + 1},
        **{"x": 0, "xanchor": "left", "xref": "container"},
        **{"y": 1, "yanchor": "top", "yref": "container"},
        "pad": {"l": 4, "t": 10},
    }


def _note_above(text: str, left: int, theme: Theme) -> dict[str, Any]:
    """The title above a level colour bar."""
    return {
        "text": text,
        "showarrow": False,
        **{"x": 0, "xref": "paper", "xanchor": "left", "xshift": 4 - left},
        **{"y": 1, "yref": "paper", "yanchor": "bottom", "yshift": LEVEL_BAR + 5},
        "font": {"size": FONT_SIZE + 1, "color": theme.text},
    }


def _legend(chart: Chart, theme: Theme) -> dict[str, Any]:
    """At the very bottom: there it meets neither the title nor the axis."""
    words = {"text": f"{chart.legend} ", "font": {"size": LABEL, "color": theme.dim}}
    return {
        "orientation": "h",
        **{"x": 0, "y": 0, "yref": "container", "yanchor": "bottom"},
        "font": {"size": LABEL},
        "traceorder": "normal",
    } | ({"title": words} if chart.legend else {})


def _hover_mode(chart: Chart) -> str:
    """One hover for all curves of a place, but points stand for themselves; a bar of 0 can be
    hovered, too.
    """
    if any(isinstance(mark, Curve) and mark.name and not mark.sizes for mark in chart.marks):
        return "x unified"
    return "y" if chart.n_bars and len(chart.marks) == 1 else "closest"


def _names(chart: Chart) -> list[str]:
    return [mark.name for mark in chart.marks if isinstance(mark, Curve | Bars)]


def _width_of_bars(chart: Chart) -> float:
    return max((mark.width for mark in chart.marks if isinstance(mark, Bars)), default=0.8)


def _has_bar(chart: Chart) -> bool:
    return any(isinstance(mark, Grid) for mark in chart.marks)


def _that_wakes(axes: dict[str, Any]) -> dict[str, Any]:
    """An axis without a trace is not drawn: one point that shows nothing brings it to life."""
    return {
        "type": "scatter",
        **{"x": [0], "y": [0], "opacity": 0, "mode": "markers"},
        "xaxis": "x2" if "xaxis2" in axes else "x",
        "yaxis": "y2" if "yaxis2" in axes else "y",
        **{"hoverinfo": "skip", "showlegend": False},
    }


def _sentence(chart: Chart, theme: Theme) -> dict[str, Any]:
    note = {
        "text": "<br>".join(map(figure_text, textwrap.wrap(chart.instead, WIDE))),
        **{"showarrow": False, "x": 0.5, "y": 0.5, "xref": "paper", "yref": "paper"},
        "font": {"color": theme.dim},
    }
    nothing = {"visible": False}
    return _looks(theme) | {
        **{"meta": {"id": chart.name}, "title": _title(chart, theme), "height": 200},
        **{"margin": {"l": 8, "r": 8, "t": 44, "b": 8}, "annotations": [note]},
        **{"xaxis": nothing, "yaxis": nothing},
    }
