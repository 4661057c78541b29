"""The rotation from PE(pos) to PE(pos + k) as a matrix, its pairs of dimensions side by side."""

import torch
from torch import Tensor

from transformer.positions.encodings import Shift, shift
from transformer.recording import Recording
from viz.exhibits.chart import Axis, Chart, nothing
from viz.exhibits.shading import differences
from viz.figures.heat_map import heat_map
from viz.labels import number
from viz.views.encoding_shift import NO_ROTATION
from viz.views.view import Amount, SideChoice, View

N_PAIRS = 8
"""Pairs shown, from the fastest to the slowest: more would be too small to see."""


def chart(recording: Recording, side: str, offset: int) -> Chart:
    """R_k [D, D] for some pairs, each a block of two on the diagonal; labels are dimensions."""
    turn = shift(recording.positions[side].table, offset)
    name, title = f"encoding_shift_matrix {side} {offset}", "R"
    more = f", with PE(pos + {offset}) = R · PE(pos)"
    if turn is None:
        return nothing(name, title, NO_ROTATION, more)
    dims = shown_dimensions(turn)
    labels = [str(dim) for dim in dims.tolist()]
    return heat_map(
        name,
        (title, more),
        turn.matrix[dims][:, dims],
        Axis("dimension of PE(pos + k)", labels=labels),
        Axis("dimension of PE(pos)", labels=labels),
        differences("R"),
        "{y} from {x}: {z:.4f}",
    )


def shown_dimensions(turn: Shift) -> Tensor:
    """Dimensions of up to N_PAIRS pairs, evenly from the shortest wavelength to the longest."""
    order = turn.pairs.wavelengths.argsort()
    n = min(N_PAIRS, len(order))
    chosen = order[torch.linspace(0, len(order) - 1, n).round().long()]
    return torch.stack([turn.pairs.sines[chosen], turn.pairs.cosines[chosen]], 1).flatten()


def describe(recording: Recording, side: str, offset: int) -> str:
    turn = shift(recording.positions[side].table, offset)
    if turn is None:
        return NO_ROTATION
    return (
        f"The matrix that moves every position by {offset} has a block of two by two for each of "
        f"{len(turn.angles)} pairs of dimensions and 0 elsewhere; largest error "
        f"{number(turn.error, 1, 'e')}."
    )


VIEW = View(
    name="encoding_shift_matrix",
    title="Shift as a matrix",
    explain="One block of cosines and sines a pair: the rotation of each pair, and nothing else.",
    needs="positions",
    content=chart,
    describe=describe,
    controls=(SideChoice(), Amount("offset", "Positions further", 1, spare=1)),
)
