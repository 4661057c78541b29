"""Single dimensions of the positional encodings as curves over positions."""

import math

import torch

from transformer.positions.encodings import wavelengths
from transformer.recording import Recording
from viz.exhibits.chart import Axis, Chart, Curve
from viz.theme import SERIES
from viz.views.view import Amount, Dimensions, SideChoice, View

HEIGHT = 330


def chart(recording: Recording, side: str, dimensions: tuple[int, ...], n_positions: int) -> Chart:
    """One curve per dimension; the legend gives its wavelength, measured from the table."""
    table = recording.positions[side].table.float().cpu()
    waves, rows = wavelengths(table).tolist(), table[:n_positions]
    curves = [
        Curve(
            f"{dimension}: {wave_text(waves[dimension])}",
            range(len(rows)),
            rows[:, dimension].numpy(),
            i % len(SERIES),
            "{y:.4f}",
            1.5,
            point=4,
        )
        for i, dimension in enumerate(dimensions)
    ]
    title, x = ("Waves", f" over the positions of the {side}"), Axis("position")
    y, name = Axis("encoding", has_grid=True), f"encoding_curves {side}"
    return Chart(name, *title, x, y, curves, HEIGHT, legend="dimension")


def wave_text(wavelength: float) -> str:
    """A wavelength with its unit; a dash for a dimension that is not a wave.

    >>> wave_text(12.566)
    '12.6 positions'
    """
    if math.isnan(wavelength):
        return "no wave"
    return f"{wavelength:,.1f} positions" if wavelength < 100 else f"{wavelength:,.0f} positions"


def describe(recording: Recording, side: str, dimensions: tuple[int, ...], n_positions: int) -> str:
    waves = wavelengths(recording.positions[side].table)[torch.tensor(dimensions)].tolist()
    text = ", ".join(
        f"{dimension} ({wave_text(wave)})"
        for dimension, wave in zip(dimensions, waves, strict=True)
    )
    return f"Encodings of the first {n_positions} positions in the dimensions {text}."


VIEW = View(
    name="encoding_curves",
    title="Waves",
    explain=(
        "Each dimension of sinusoids is a wave over positions: fast ones tell neighbours apart, "
        "slow ones the beginning from the end. The wavelength is measured from the model's own "
        "table; learned embeddings need have none."
    ),
    needs="positions",
    content=chart,
    describe=describe,
    controls=(
        SideChoice(),
        Dimensions("dimensions", "Dimensions"),
        Amount("n_positions", "Positions", 64),
    ),
)
