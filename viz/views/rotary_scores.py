"""Rotary positions at work: the scores of a recorded text by the distance of key and query."""

import plotly.graph_objects as go
from torch import Tensor

from transformer.analysis.selection import Selection
from transformer.positions.relative_bias import ByDistance, by_distance
from transformer.recording import Recording
from viz.figures.curve import curve_layout
from viz.figures.layout import axis
from viz.theme import Theme
from viz.views.view import HeadChoice, View

HEIGHT = 440


def applies(recording: Recording) -> bool:
    """Whether every head that may be chosen turns, and its queries and keys are known."""
    turning = {rotary.kind for rotary in recording.rotary.values()}
    return set(recording.attentions) <= turning and all(
        each.calls[0].knows_scores for each in recording.attentions.values()
    )


def scores(recording: Recording, selection: Selection) -> ByDistance:
    """q·k·scale, and bias if there is one, of one head [1, N]; masked cells do not count."""
    call = selection.attention(recording).calls[selection.layer].only(selection.head)
    return by_distance(call.scores().cpu(), call.allowed().cpu())


def draw(recording: Recording, theme: Theme, selection: Selection) -> go.Figure:
    """The mean over all cells of a distance, within the range from the lowest to the highest."""
    found = scores(recording, selection)
    name = selection.name(recording)
    title = f"<b>Scores by distance</b>, {name}"
    figure = go.Figure(
        layout=curve_layout(theme, f"rotary_scores {selection.kind} {name}", title, HEIGHT)
    )
    edge = {"width": 0, "color": theme.accent}
    figure.add_trace(_line(found, found.low[0], "lowest", line=edge, showlegend=False))
    fill = {"fill": "tonexty", "fillcolor": theme.grid, "line": edge}
    figure.add_trace(_line(found, found.high[0], "highest", **fill, showlegend=False))
    mean = {"color": theme.accent, "width": 2}
    figure.add_trace(_line(found, found.mean[0], "mean", line=mean))
    figure.update_xaxes(axis(theme, "key − query, positions", hover="key − query = %{x}"))
    figure.update_yaxes(axis(theme, "score before the softmax", nticks=6, grid=True))
    return figure


def _line(found: ByDistance, values: Tensor, name: str, **more: object) -> go.Scatter:
    return go.Scatter(
        x=found.distances.numpy(),
        y=values.numpy(),
        name=name,
        mode="lines",
        hovertemplate="%{y:.4f}",
        **more,
    )


def describe(recording: Recording, selection: Selection) -> str:
    found = scores(recording, selection)
    best = int(found.mean[0].argmax())
    return (
        f"Mean scores of {selection.name(recording)} ({selection.kind}) at "
        f"{len(found.distances)} distances of key and query: the highest is "
        f"{float(found.mean[0, best]):.4f} at {int(found.distances[best])}."
    )


VIEW = View(
    name="rotary_scores",
    title="Scores by distance",
    explain=(
        "q·k·scale (and bias) of this text before the softmax: the mean over all cells of a "
        "distance, and the band from the lowest to the highest of them. Masked cells do not count; "
        "far distances have few cells."
    ),
    needs="rotary",
    draw=draw,
    describe=describe,
    controls=(HeadChoice(),),
    applies=applies,
)
