"""How long each positional encoding is, as a vector."""

from transformer.recording import Recording
from viz.exhibits.chart import Axis, Chart, Curve, values_of
from viz.views.view import SideChoice, View


def chart(recording: Recording, side: str) -> Chart:
    """|p_i| for every position of the table [P, D]."""
    sizes = recording.positions[side].table.norm(dim=1)
    curve = Curve("length", range(len(sizes)), sizes.numpy(), "accent", "{y:.3f}")
    x, y = Axis("position", hover="position {x}"), values_of("length of the vector")
    return Chart(f"encoding_sizes {side}", "Lengths", f" of the {side}", x, y, (curve,), 300)


def describe(recording: Recording, side: str) -> str:
    sizes = recording.positions[side].table.norm(dim=1)
    return f"Encodings of the {side} have lengths from {sizes.min():.2f} to {sizes.max():.2f}."


VIEW = View(
    name="encoding_sizes",
    title="Lengths of encodings",
    explain="The length of each position's vector.",
    needs="positions",
    content=chart,
    describe=describe,
    controls=(SideChoice(),),
)
