"""Rotary positions: in how many positions each pair of dimensions turns once."""

import plotly.graph_objects as go

from transformer.recording import Recording
from viz.figures.curve import curve_layout
from viz.figures.layout import axis
from viz.position_words import wave_text
from viz.theme import SERIES, Theme
from viz.views.view import View

HEIGHT = 440


def draw(recording: Recording, theme: Theme) -> go.Figure:
    """One dot per pair, one colour for layers with the same rotation."""
    title = "<b>Wavelengths</b> of the pairs that turn"
    figure = go.Figure(layout=curve_layout(theme, "rotary_waves", title, HEIGHT))
    for i, (name, rotary) in enumerate(recording.rotary.items()):
        figure.add_trace(
            go.Scatter(
                y=rotary.wavelengths.numpy(),
                customdata=rotary.frequencies.double().cpu().numpy(),
                name=name,
                mode="lines+markers",
                line={"color": SERIES[i % len(SERIES)], "width": 1},
                marker={"size": 6},
                hovertemplate="%{y:,.1f} positions, θ = %{customdata:.4g} radians",
            )
        )
    n_tokens = max(len(recording.attentions[each.kind].keys) for each in recording.rotary.values())
    n_pairs = max(each.frequencies.numel() for each in recording.rotary.values())
    ends = [-0.5, n_pairs - 0.5]
    figure.add_trace(
        go.Scatter(
            x=ends,
            y=[n_tokens] * 2,
            name=f"length of this text: {n_tokens}",
            mode="lines",
            line={"color": theme.dim, "width": 1, "dash": "dot"},
            hoverinfo="skip",
        )
    )
    figure.update_xaxes(axis(theme, "pair of dimensions", hover="pair %{x}", range=ends))
    scale = {"type": "log", "exponentformat": "none", "tickformat": ",.0f", "dtick": 1}
    figure.update_yaxes(axis(theme, "positions in a full turn", **scale, grid=True))
    return figure


def describe(recording: Recording) -> str:
    said = [
        f"{name}: {rotary.frequencies.numel()} pairs, from {wave_text(float(waves.min()))} to "
        f"{wave_text(float(waves.max()))} positions in a full turn"
        for name, rotary in recording.rotary.items()
        for waves in [rotary.wavelengths]
    ]
    return "; ".join(said) + "."


VIEW = View(
    name="rotary_waves",
    title="Rotary waves",
    explain=(
        "Each pair of dimensions of a query or key turns by θ radians per position: once in 2π/θ "
        "positions. Fast pairs tell neighbours apart; those that turn slower than the text is long "
        "hardly move in it (RoFormer, Su et al. 2021, section 3.2.2)."
    ),
    needs="rotary",
    draw=draw,
    describe=describe,
    controls=(),
)
