"""The rotation that turns PE(pos) into PE(pos + k), pair of dimensions by pair."""

import math

import plotly.graph_objects as go

from transformer.positions.encodings import Shift, shift
from transformer.recording import Recording
from viz.figures.layout import axis, layout, sentence
from viz.theme import SERIES, Theme
from viz.views.view import Amount, SideChoice, View

HEIGHT = 420
NO_ROTATION = "These encodings are not sinusoids: no rotation carries one position to another."


def draw(recording: Recording, theme: Theme, side: str, offset: int) -> go.Figure:
    """The angle of each pair's rotation, in degrees, against the pair's wavelength."""
    found = shift(recording.positions[side].table, offset)
    id = f"encoding_shift {side} {offset}"
    title = f"<b>Shift by {offset}</b>"
    if found is None:
        return sentence(NO_ROTATION, theme, id, title)
    figure = go.Figure(
        layout=layout(theme, id, f"{title}: {_error(found)}", height=HEIGHT, showlegend=False)
    )
    figure.add_trace(_stems(found, theme))
    figure.add_trace(_angles(found))
    figure.update_xaxes(
        axis(theme, "wavelength of the pair (positions)", type="log", dtick=1, grid=True)
    )
    figure.update_yaxes(
        axis(theme, "rotation", range=[-190, 190], dtick=90, ticksuffix="°", grid=True)
    )
    return figure


def _angles(found: Shift) -> go.Scatter:
    return go.Scatter(
        x=found.pairs.wavelengths.numpy(),
        y=found.angles.rad2deg().numpy(),
        customdata=list(zip(found.pairs.sines.tolist(), found.pairs.cosines.tolist(), strict=True)),
        mode="markers",
        marker={"color": SERIES[0], "size": 7},
        hovertemplate=(
            "dimensions %{customdata[0]} and %{customdata[1]}<br>"
            "wavelength %{x:,.1f} positions<br>rotation %{y:.2f}°<extra></extra>"
        ),
    )


def _stems(found: Shift, theme: Theme) -> go.Scatter:
    """From 0° to each point: one trace, its strokes parted by gaps."""
    x: list[float | None] = []
    y: list[float | None] = []
    for wave, angle in zip(
        found.pairs.wavelengths.tolist(), found.angles.rad2deg().tolist(), strict=True
    ):
        x += [wave, wave, None]
        y += [0, angle, None]
    line = {"color": theme.dim, "width": 1}
    return go.Scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip")


def _error(found: Shift) -> str:
    return f"largest error {found.error:.1e}"


def describe(recording: Recording, side: str, offset: int) -> str:
    found = shift(recording.positions[side].table, offset)
    if found is None:
        return NO_ROTATION
    fastest = int(found.pairs.wavelengths.argmin())
    degrees = math.degrees(float(found.angles[fastest]))
    return (
        f"One rotation of {len(found.angles)} pairs of dimensions moves every position by "
        f"{offset}: the fastest pair turns by {degrees:.0f}°; {_error(found)}."
    )


VIEW = View(
    name="encoding_shift",
    title="Shift as rotation",
    explain=(
        "PE(pos + k) is PE(pos) with each pair of dimensions turned by a fixed angle, whatever "
        "pos is. The angles are fitted to the model's own table; the error is the largest miss."
    ),
    needs="positions",
    draw=draw,
    describe=describe,
    controls=(SideChoice(), Amount("offset", "Positions further", 1, spare=1)),
)
