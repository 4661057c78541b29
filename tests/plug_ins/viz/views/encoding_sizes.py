"""How long each positional encoding is, as a vector."""

import plotly.graph_objects as go

from transformer.recording import Recording
from viz.theme import Theme
from viz.views.view import SideChoice, View


def draw(recording: Recording, theme: Theme, side: str) -> go.Figure:
    """|p_i| for every position of the table [P, D]."""
    sizes = recording.positions[side].table.norm(dim=1)
    figure = go.Figure(go.Scatter(y=sizes.tolist(), mode="lines", line={"color": theme.accent}))
    return figure.update_layout(meta={"id": f"encoding_sizes {side}"})


def describe(recording: Recording, side: str) -> str:
    sizes = recording.positions[side].table.norm(dim=1)
    return f"Encodings of the {side} have lengths from {sizes.min():.2f} to {sizes.max():.2f}."


VIEW = View(
    name="encoding_sizes",
    title="Lengths of encodings",
    explain="The length of each position's vector.",
    needs="positions",
    draw=draw,
    describe=describe,
    controls=(SideChoice(),),
)
