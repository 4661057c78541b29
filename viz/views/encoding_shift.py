"""The rotation that turns PE(pos) into PE(pos + k), pair of dimensions by pair."""

import math

import torch

from transformer.positions.encodings import Shift, shift
from transformer.recording import Recording
from viz.exhibits.chart import Axis, Chart, Curve, nothing
from viz.labels import number
from viz.views.view import Amount, SideChoice, View

HEIGHT = 332
NO_ROTATION = "These encodings are not sinusoids: no rotation carries one position to another."


def chart(recording: Recording, side: str, offset: int) -> Chart:
    """The angle of each pair's rotation, in degrees, against the pair's wavelength."""
    turn = shift(recording.positions[side].table, offset)
    name, title = f"encoding_shift {side} {offset}", f"Shift by {offset}"
    if turn is None:
        return nothing(name, title, NO_ROTATION)
    x = Axis("wavelength of the pair (positions)", is_log=True, has_grid=True)
    ticks = [(angle, f"{number(angle, 0)}°") for angle in range(-180, 181, 90)]
    y = Axis("rotation", ends=(-190, 190), has_grid=True, ticks=ticks)
    marks = (_stems(turn), _angles(turn))
    return Chart(name, title, f": {_error(turn)}", x, y, marks, HEIGHT)


def _angles(turn: Shift) -> Curve:
    hover = "dimensions {0} and {1}\nwavelength {x:,.1f} positions\nrotation {y:.2f}°"
    angles = turn.angles.rad2deg()
    more = zip(turn.pairs.sines.tolist(), turn.pairs.cosines.tolist(), strict=True)
    waves = turn.pairs.wavelengths.numpy()
    return Curve("", waves, angles.numpy(), 0, hover, 0, point=7, more=list(more))


def _stems(turn: Shift) -> Curve:
    """From 0° to each point: one mark, its strokes parted by gaps."""
    waves, angles = turn.pairs.wavelengths, turn.angles.rad2deg()
    gap = torch.full_like(waves, float("nan"))
    x = torch.stack([waves, waves, gap], 1).flatten()
    y = torch.stack([torch.zeros_like(angles), angles, gap.to(angles)], 1).flatten()
    return Curve("", x.numpy(), y.numpy(), "dim", width=1)


def _error(turn: Shift) -> str:
    return f"largest error {number(turn.error, 1, 'e')}"


def describe(recording: Recording, side: str, offset: int) -> str:
    turn = shift(recording.positions[side].table, offset)
    if turn is None:
        return NO_ROTATION
    fastest = int(turn.pairs.wavelengths.argmin())
    degrees = math.degrees(float(turn.angles[fastest]))
    return (
        f"One rotation of {len(turn.angles)} pairs of dimensions moves every position by "
        f"{offset}: the fastest pair turns by {number(degrees, 0)}°; {_error(turn)}."
    )


VIEW = View(
    name="encoding_shift",
    title="Shift as rotation",
    explain=(
        "PE(pos + k) is PE(pos) with each pair of dimensions turned by a fixed angle, whatever "
        "pos is. The angles are fitted to the model's own table; the error is the largest miss."
    ),
    needs="positions",
    content=chart,
    describe=describe,
    controls=(SideChoice(), Amount("offset", "Positions further", 1, spare=1)),
)
