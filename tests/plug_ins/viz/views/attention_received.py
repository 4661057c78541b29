"""How much of a head's attention each key receives."""

import plotly.graph_objects as go

from transformer.analysis.selection import Selection
from transformer.recording import Recording
from viz.theme import Theme
from viz.views.view import Choice, HeadChoice, View


def draw(recording: Recording, theme: Theme, selection: Selection, scale: str) -> go.Figure:
    """sum_i A_ij for every key j: [K]."""
    weights = selection.attention(recording).weights(selection.layer, selection.head)
    received = weights.sum(0) if scale == "sum" else weights.mean(0)
    figure = go.Figure(go.Bar(y=received.tolist(), marker={"color": theme.accent}))
    return figure.update_layout(meta={"id": f"attention_received {selection}"})


def describe(recording: Recording, selection: Selection, scale: str) -> str:
    weights = selection.attention(recording).weights(selection.layer, selection.head)
    return f"In {selection} key {int(weights.sum(0).argmax())} receives most."


VIEW = View(
    name="attention_received",
    title="Attention received",
    explain="What all queries together give to each key.",
    needs="attentions",
    draw=draw,
    describe=describe,
    controls=(HeadChoice(), Choice("scale", "Scale", ("sum", "mean"))),
)
