"""The likeness of the encodings of two positions: PE . PE^T."""

from torch import Tensor

from transformer.positions.encodings import similarity
from transformer.recording import Recording
from viz.exhibits.chart import Axis, Chart
from viz.exhibits.shading import differences
from viz.figures.heat_map import heat_map
from viz.labels import number
from viz.views.view import Amount, Choice, SideChoice, View

PRODUCT, COSINE = "dot product", "cosine"


def chart(recording: Recording, side: str, measure: str, n_positions: int) -> Chart:
    """Products (or cosines) of the first n_positions encodings with one another [P, P]."""
    values, place = _values(recording, side, measure, n_positions), Axis("position")
    return heat_map(
        f"encoding_similarity {side} {measure}",
        ("Similarity of positions", f", {measure}"),
        values,
        place,
        place,
        differences(measure, 1.0 if measure == COSINE else float(values.abs().amax())),
        "position {y} and {x}: {z:.4f}",
    )


def describe(recording: Recording, side: str, measure: str, n_positions: int) -> str:
    values = _values(recording, side, measure, n_positions)
    text = f"Similarity of the first {len(values)} positions ({measure}): {number(values[0, 0])} "
    if len(values) == 1:
        return text + "of the first with itself."
    return text + f"of the first with itself, {number(values[0, 1])} with the next."


def _values(recording: Recording, side: str, measure: str, n_positions: int) -> Tensor:
    table = recording.positions[side].table[:n_positions].cpu()
    return similarity(table, normalised=measure == COSINE)


VIEW = View(
    name="encoding_similarity",
    title="Similarity",
    explain=(
        "PE·PEᵀ: with sinusoids it only depends on the distance between two positions, so the "
        "picture is the same along every diagonal."
    ),
    needs="positions",
    content=chart,
    describe=describe,
    controls=(
        SideChoice(),
        Choice("measure", "Measure", (PRODUCT, COSINE)),
        Amount("n_positions", "Positions", 64),
    ),
)
