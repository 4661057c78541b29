"""Rotary positions: what is left of q·k as key and query part."""

import plotly.graph_objects as go
import torch

from transformer.positions.rotary import bound, decay
from transformer.recording import Recording
from viz.figures.curve import curve_layout
from viz.figures.layout import axis
from viz.theme import SERIES, Theme
from viz.views.view import Choice, PartChoice, View

HEIGHT = 440
REACHES = ("256", "1024", "4096")


def draw(recording: Recording, theme: Theme, where: str, reach: str) -> go.Figure:
    """Two curves over the distance, both as a share of their value at 0."""
    rotary, distances = recording.rotary[where], torch.arange(int(reach) + 1)
    title = f"<b>q·k by distance</b>, {where}"
    figure = go.Figure(layout=curve_layout(theme, f"rotary_decay {where}", title, HEIGHT))
    curves = (
        ("q = k = 1", decay(rotary, distances), {"color": SERIES[0], "width": 1.5}),
        ("the paper's bound", bound(rotary, distances), {"color": SERIES[5], "dash": "dot"}),
    )
    for name, values, line in curves:
        figure.add_trace(
            go.Scatter(
                y=values.numpy(), name=name, mode="lines", line=line, hovertemplate="%{y:.4f}"
            )
        )
    figure.update_xaxes(axis(theme, "distance, positions", hover="distance %{x}"))
    figure.update_yaxes(axis(theme, "share of the value at distance 0", nticks=6, grid=True))
    return figure


def describe(recording: Recording, where: str, reach: str) -> str:
    rotary, last = recording.rotary[where], int(reach)
    near, far = decay(rotary, torch.tensor([1, last])).tolist()
    highest = float(bound(rotary, torch.tensor([last])))
    return (
        f"q·k with q = k = 1 falls to {near:.4f} at distance 1 and {far:.4f} at {last}, where "
        f"the bound of the rotated part is {highest:.4f} of its value at distance 0."
    )


VIEW = View(
    name="rotary_decay",
    title="Rotary decay",
    explain=(
        "Solid: q·R(distance)·k for q = k = 1; each rotated pair gives 2·cos(distance·θ), each "
        "unrotated dimension 1. Dotted: mean |Σ e^(i·distance·θ)|, which bounds the rotated part "
        "for any q and k, up to a factor that depends on them (RoFormer, Su et al. 2021, section "
        "3.4.3). Both are relative to distance 0. For real queries and keys see “Scores by "
        "distance”."
    ),
    needs="rotary",
    draw=draw,
    describe=describe,
    controls=(
        PartChoice("where", "Attention", "rotary"),
        Choice("reach", "Distances up to", REACHES),
    ),
)
