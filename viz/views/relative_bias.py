"""What each head adds to its scores for the distance of key and query."""

import plotly.graph_objects as go

from transformer.positions.relative_bias import RelativeBias
from transformer.recording import Recording
from transformer.tokenizer import Token
from viz.figures.curve import curve_layout
from viz.figures.heatmap import Side, heatmap, signed_scale
from viz.figures.layout import axis
from viz.theme import Theme
from viz.views.view import Choice, PartChoice, View

HEIGHT = 440
CURVES, CELLS = "curves", "heads × distance"


def draw(recording: Recording, theme: Theme, where: str, shown: str) -> go.Figure:
    """A head is a curve, or a row of cells [H, N]."""
    bias = recording.biases[where]
    return _cells(bias, theme, where) if shown == CELLS else _curves(bias, theme, where)


def _curves(bias: RelativeBias, theme: Theme, where: str) -> go.Figure:
    found = bias.by_distance
    figure = go.Figure(layout=curve_layout(theme, f"relative_bias {where}", _title(where), HEIGHT))
    for head, values in enumerate(found.mean):
        figure.add_trace(
            go.Scatter(
                x=found.distances.numpy(),
                y=values.numpy(),
                name=f"H{head}",
                mode="lines+markers",
                line={"color": theme.head_colours[head % len(theme.head_colours)], "width": 1.5},
                marker={"size": 4},
                hovertemplate="%{y:.4f}",
            )
        )
    figure.update_xaxes(axis(theme, "key − query, positions", hover="key − query = %{x}"))
    figure.update_yaxes(axis(theme, _unit(bias), nticks=6, grid=True))
    return figure


def _cells(bias: RelativeBias, theme: Theme, where: str) -> go.Figure:
    found = bias.by_distance
    bound = float(found.mean.abs().amax()) or 1.0
    figure = heatmap(
        found.mean,
        Side("head", [Token(head, f"H{head}") for head in range(len(found.mean))]),
        Side("key − query, positions"),
        signed_scale(theme, "bias", bound),
        theme,
        id=f"relative_bias {where} {CELLS}",
        title=_title(where),
        hover="%{y}, key − query = %{x}: %{z:.4f}",
    )
    first, last = int(found.distances[0]), int(found.distances[-1])
    for trace in figure.data:  # columns are distances, which may be negative
        if isinstance(trace, go.Heatmap):
            trace.x0, trace.dx = first, 1
    figure.update_xaxes(range=[first - 0.5, last + 0.5])
    return figure


def _title(where: str) -> str:
    return f"<b>Bias by distance</b>, {where}"


def _unit(bias: RelativeBias) -> str:
    return "bias, from the query's own place" if bias.from_own else "bias added to the score"


def describe(recording: Recording, where: str, shown: str) -> str:
    bias = recording.biases[where]
    found = bias.by_distance
    head, place = divmod(int(found.mean.argmax()), len(found.distances))
    least = "less than 0.0001" if found.spread < 1e-4 else f"up to {found.spread:.4f}"
    alone = (
        "it only depends on the distance"
        if bias.is_of_distance
        else f"cells of one distance differ by {least}, and their mean is shown"
    )
    return (
        f"The bias that {len(found.mean)} heads of {where} add to their scores at distances from "
        f"{int(found.distances[0])} to {int(found.distances[-1])}; {alone}. The largest is "
        f"{float(found.mean[head, place]):.4f}, of H{head} at {int(found.distances[place])}."
    )


VIEW = View(
    name="relative_bias",
    title="Bias by distance",
    explain=(
        "The bias added to q·k·scale before the softmax, for keys before the query (negative "
        "distances) and after it; float32 values. Adding one number to a whole row changes no "
        "weight, so such biases are shown relative to the query's own position (T5: Raffel et al. "
        "2020, section 2.1; ALiBi: Press et al. 2022)."
    ),
    needs="biases",
    draw=draw,
    describe=describe,
    controls=(
        PartChoice("where", "Attention", "biases"),
        Choice("shown", "As", (CURVES, CELLS)),
    ),
)
