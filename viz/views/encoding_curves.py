"""Single dimensions of the positional encodings as curves over positions."""

import math

import plotly.graph_objects as go
import torch

from transformer.positions.encodings import wavelengths
from transformer.recording import Recording
from viz.figures.layout import SMALL, axis, layout
from viz.theme import SERIES, Theme
from viz.views.view import Amount, Dimensions, SideChoice, View

HEIGHT = 440


def draw(
    recording: Recording, theme: Theme, side: str, dimensions: tuple[int, ...], n_positions: int
) -> go.Figure:
    """One curve per dimension; the legend gives its wavelength, measured from the table."""
    table = recording.positions[side].table.float().cpu()
    waves = wavelengths(table).tolist()
    figure = go.Figure(layout=layout(theme, f"encoding_curves {side}", _title(side), height=HEIGHT))
    for i, dimension in enumerate(dimensions):
        figure.add_trace(
            go.Scatter(
                y=table[:n_positions, dimension].numpy(),
                name=f"{dimension}: {wave_text(waves[dimension])}",
                mode="lines+markers",
                line={"color": SERIES[i % len(SERIES)], "width": 1.5},
                marker={"size": 4},
                hovertemplate="%{y:.4f}",
            )
        )
    figure.update_xaxes(axis(theme, "position"))
    figure.update_yaxes(axis(theme, "encoding", nticks=5, grid=True))
    figure.update_layout(
        hovermode="x unified",
        showlegend=True,
        legend={
            "orientation": "h",
            "x": 0,
            "y": -0.2,  # under the axis: there it cannot meet the title in a narrow figure
            "yanchor": "top",
            "title": {"text": "dimension ", "font": {"size": SMALL, "color": theme.dim}},
        },
    )
    return figure


def _title(side: str) -> str:
    return f"<b>Waves</b> over the positions of the {side}"


def wave_text(wavelength: float) -> str:
    """A wavelength with its unit; a dash for a dimension that is not a wave.

    >>> wave_text(12.566)
    '12.6 positions'
    """
    if math.isnan(wavelength):
        return "no wave"
    return f"{wavelength:,.1f} positions" if wavelength < 100 else f"{wavelength:,.0f} positions"


def describe(recording: Recording, side: str, dimensions: tuple[int, ...], n_positions: int) -> str:
    found = wavelengths(recording.positions[side].table)[torch.tensor(dimensions)].tolist()
    waves = ", ".join(
        f"{dimension} ({wave_text(wave)})"
        for dimension, wave in zip(dimensions, found, strict=True)
    )
    return f"Encodings of the first {n_positions} positions in the dimensions {waves}."


VIEW = View(
    name="encoding_curves",
    title="Waves",
    explain=(
        "Each dimension of sinusoids is a wave over positions: fast ones tell neighbours apart, "
        "slow ones the beginning from the end. The wavelength is measured from the model's own "
        "table; learned embeddings need have none."
    ),
    needs="positions",
    draw=draw,
    describe=describe,
    controls=(
        SideChoice(),
        Dimensions("dimensions", "Dimensions"),
        Amount("n_positions", "Positions", 64),
    ),
)
