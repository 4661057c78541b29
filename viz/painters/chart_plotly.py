"""A chart on a screen: a figure of Plotly's."""

import math
from typing import Any

import plotly.graph_objects as go

from viz.exhibits.chart import Axis, Chart, Curve, Point, Rule
from viz.figures.curve import curve_layout
from viz.figures.layout import SMALL, axis
from viz.labels import figure_text
from viz.painters.inks import colour_of
from viz.theme import Theme


def figure(chart: Chart, theme: Theme) -> go.Figure:
    """The chart with one hover for all curves at a place, and its legend below."""
    title = f"<b>{figure_text(chart.title)}</b>{figure_text(chart.more)}"
    made = go.Figure(layout=curve_layout(theme, chart.name, title, chart.height))
    for mark in chart.marks:
        match mark:
            case Curve():
                made.add_trace(_curve(mark, theme))
            case Point():
                _point(made, mark, chart.x.is_log, theme)
            case Rule():
                _rule(made, mark, theme)
    made.update_xaxes(_axis(chart.x, theme))
    made.update_yaxes({"exponentformat": "none", "nticks": 6} | _axis(chart.y, theme))
    return made


def _curve(curve: Curve, theme: Theme) -> go.Scatter:
    colour = colour_of(curve.ink, theme)
    parts = ["lines"] * (curve.width > 0) + ["markers"] * (curve.point > 0)
    look: dict[str, Any] = {"line": {"color": colour, "width": curve.width or 2}}
    if curve.dash is not None:
        look["line"]["dash"] = curve.dash
    if curve.point:
        look["marker"] = {"size": curve.point} | ({} if curve.width else {"color": colour})
    if curve.counts:
        look["customdata"] = list(curve.counts)
    name, hover = figure_text(curve.name), _template(curve.hover)
    return go.Scatter(
        x=curve.x, y=curve.y, name=name, hovertemplate=hover, mode="+".join(parts), **look
    )


def _point(made: go.Figure, point: Point, is_log: bool, theme: Theme) -> None:
    marker = {"color": theme.accent, "size": 9}
    made.add_scatter(
        x=[point.x], y=[point.y], mode="markers", marker=marker, hoverinfo="skip", showlegend=False
    )
    made.add_annotation(
        x=math.log10(point.x) if is_log else point.x,
        y=point.y,
        text=figure_text(point.text),
        showarrow=False,
        xanchor="right" if point.side == "left" else "left",
        xshift=-8 if point.side == "left" else 8,
        yanchor="bottom",
        yshift=4,
        bgcolor=theme.background,  # other curves may pass there
        font={"size": SMALL, "color": theme.text},
    )


def _rule(made: go.Figure, rule: Rule, theme: Theme) -> None:
    made.add_hline(
        rule.y,
        line={"color": theme.dim, "width": 1, "dash": "dot"},
        annotation_text=figure_text(rule.text),
        annotation_position="top left",
        annotation_font={"size": SMALL, "color": theme.dim},
    )


def _axis(side: Axis, theme: Theme) -> dict[str, Any]:
    look: dict[str, Any] = {"type": "log", "dtick": 1} if side.is_log else {}
    if side.ends is not None:
        look["range"] = [math.log10(each) if side.is_log else each for each in side.ends]
    if side.from_zero:
        look["rangemode"] = "tozero"
    if side.format:
        look |= {"tickformat": side.format, "hoverformat": side.format}
    return axis(theme, side.title, grid=side.has_grid, hover=_template(side.hover), **look)


def _template(text: str) -> str:
    """Plotly's form of a hover text."""
    return text.replace("{count}", "{customdata}").replace("{", "%{")
