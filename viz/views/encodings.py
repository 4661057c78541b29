"""Views of positional encodings: their waves, their likeness, and shifts as rotations."""

import math

import torch
from torch import Tensor

from transformer.positions.encodings import Shift, shift, similarity, wavelengths
from transformer.recording import Recording
from viz.exhibits.chart import Axis, Chart, Curve, differences, nothing
from viz.figures.tables import heat_map
from viz.labels import number
from viz.theme import SERIES
from viz.views.view import Amount, Choice, Dimensions, SideChoice, View

# Single dimensions of the positional encodings as curves over positions.

ENCODING_CURVES_HEIGHT = 330


def chart_encoding_curves(
    recording: Recording, side: str, dimensions: tuple[int, ...], n_positions: int
) -> Chart:
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
    return Chart(name, *title, x, y, curves, ENCODING_CURVES_HEIGHT, legend="dimension")


def wave_text(wavelength: float) -> str:
    """A wavelength with its unit; a dash for a dimension that is not a wave.

    >>> wave_text(12.566)
    '12.6 positions'
    """
    if math.isnan(wavelength):
        return "no wave"
    return f"{wavelength:,.1f} positions" if wavelength < 100 else f"{wavelength:,.0f} positions"


def describe_encoding_curves(
    recording: Recording, side: str, dimensions: tuple[int, ...], n_positions: int
) -> str:
    waves = wavelengths(recording.positions[side].table)[torch.tensor(dimensions)].tolist()
    text = ", ".join(
        f"{dimension} ({wave_text(wave)})"
        for dimension, wave in zip(dimensions, waves, strict=True)
    )
    return f"Encodings of the first {n_positions} positions in the dimensions {text}."


ENCODING_CURVES_VIEW = View(
    name="encoding_curves",
    title="Waves",
    explain=(
        "Each dimension of sinusoids is a wave over positions: fast ones tell neighbours apart, "
        "slow ones the beginning from the end. The wavelength is measured from the model's own "
        "table; learned embeddings need have none."
    ),
    needs="positions",
    content=chart_encoding_curves,
    describe=describe_encoding_curves,
    controls=(
        SideChoice(),
        Dimensions("dimensions", "Dimensions"),
        Amount("n_positions", "Positions", 64),
    ),
)


# The positional encodings as the model holds them: position x dimension.


def chart_encoding_heatmap(recording: Recording, side: str, n_positions: int) -> Chart:
    """The first n_positions rows of the table [P, D]."""
    positions = recording.positions[side]
    table = positions.table[:n_positions].float().cpu()
    return heat_map(
        f"encoding_heatmap {side}",
        (positions.title.capitalize(), f" of the {side}"),
        table,
        Axis("position"),
        Axis("dimension"),
        differences("encoding", float(table.abs().amax()) or 1.0),
        "position {y}, dimension {x}: {z:.4f}",
    )


def describe_encoding_heatmap(recording: Recording, side: str, n_positions: int) -> str:
    positions = recording.positions[side]
    table = positions.table[:n_positions]
    n_positions, d_model = table.shape
    return (
        f"{positions.title.capitalize()} of the {side}: {n_positions} positions by {d_model} "
        f"dimensions, values from {number(table.min())} to {number(table.max())}."
    )


ENCODING_HEATMAP_VIEW = View(
    name="encoding_heatmap",
    title="Position × dimension",
    explain="What tells the model each token's place. A row is a position.",
    needs="positions",
    content=chart_encoding_heatmap,
    describe=describe_encoding_heatmap,
    controls=(SideChoice(), Amount("n_positions", "Positions", 64)),
)


# The rotation that turns PE(pos) into PE(pos + k), pair of dimensions by pair.

ENCODING_SHIFT_HEIGHT = 332
NO_ROTATION = "These encodings are not sinusoids: no rotation carries one position to another."


def chart_encoding_shift(recording: Recording, side: str, offset: int) -> Chart:
    """The angle of each pair's rotation, in degrees, against the pair's wavelength."""
    turn = shift(recording.positions[side].table, offset)
    name, title = f"encoding_shift {side} {offset}", f"Shift by {offset}"
    if turn is None:
        return nothing(name, title, NO_ROTATION)
    x = Axis("wavelength of the pair (positions)", is_log=True, has_grid=True)
    ticks = [(angle, f"{number(angle, 0)}°") for angle in range(-180, 181, 90)]
    y = Axis("rotation", ends=(-190, 190), has_grid=True, ticks=ticks)
    marks = (_stems(turn), _angles(turn))
    return Chart(name, title, f": {_error(turn)}", x, y, marks, ENCODING_SHIFT_HEIGHT)


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


def describe_encoding_shift(recording: Recording, side: str, offset: int) -> str:
    turn = shift(recording.positions[side].table, offset)
    if turn is None:
        return NO_ROTATION
    fastest = int(turn.pairs.wavelengths.argmin())
    degrees = math.degrees(float(turn.angles[fastest]))
    return (
        f"One rotation of {len(turn.angles)} pairs of dimensions moves every position by "
        f"{offset}: the fastest pair turns by {number(degrees, 0)}°; {_error(turn)}."
    )


ENCODING_SHIFT_VIEW = View(
    name="encoding_shift",
    title="Shift as rotation",
    explain=(
        "PE(pos + k) is PE(pos) with each pair of dimensions turned by a fixed angle, whatever "
        "pos is. The angles are fitted to the model's own table; the error is the largest miss."
    ),
    needs="positions",
    content=chart_encoding_shift,
    describe=describe_encoding_shift,
    controls=(SideChoice(), Amount("offset", "Positions further", 1, spare=1)),
)


# The rotation from PE(pos) to PE(pos + k) as a matrix, its pairs of dimensions side by side.

N_PAIRS = 8
"""Pairs shown, from the fastest to the slowest: more would be too small to see."""


def chart_encoding_shift_matrix(recording: Recording, side: str, offset: int) -> Chart:
    """R_k [D, D] for some pairs, each a block of two on the diagonal; labels are dimensions."""
    turn = shift(recording.positions[side].table, offset)
    name, title = f"encoding_shift_matrix {side} {offset}", "R"
    more = f", with PE(pos + {offset}) = R · PE(pos)"
    if turn is None:
        return nothing(name, title, NO_ROTATION, more)
    # Dimensions of up to N_PAIRS pairs, evenly from the shortest wavelength to the longest.
    order = turn.pairs.wavelengths.argsort()
    n = min(N_PAIRS, len(order))
    chosen = order[torch.linspace(0, len(order) - 1, n).round().long()]
    dims = torch.stack([turn.pairs.sines[chosen], turn.pairs.cosines[chosen]], 1).flatten()
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


def describe_encoding_shift_matrix(recording: Recording, side: str, offset: int) -> str:
    turn = shift(recording.positions[side].table, offset)
    if turn is None:
        return NO_ROTATION
    return (
        f"The matrix that moves every position by {offset} has a block of two by two for each of "
        f"{len(turn.angles)} pairs of dimensions and 0 elsewhere; largest error "
        f"{number(turn.error, 1, 'e')}."
    )


ENCODING_SHIFT_MATRIX_VIEW = View(
    name="encoding_shift_matrix",
    title="Shift as a matrix",
    explain="One block of cosines and sines a pair: the rotation of each pair, and nothing else.",
    needs="positions",
    content=chart_encoding_shift_matrix,
    describe=describe_encoding_shift_matrix,
    controls=(SideChoice(), Amount("offset", "Positions further", 1, spare=1)),
)


# The likeness of the encodings of two positions: PE . PE^T.

PRODUCT, COSINE = "dot product", "cosine"


def chart_encoding_similarity(
    recording: Recording, side: str, measure: str, n_positions: int
) -> Chart:
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


def describe_encoding_similarity(
    recording: Recording, side: str, measure: str, n_positions: int
) -> str:
    values = _values(recording, side, measure, n_positions)
    text = f"Similarity of the first {len(values)} positions ({measure}): {number(values[0, 0])} "
    if len(values) == 1:
        return text + "of the first with itself."
    return text + f"of the first with itself, {number(values[0, 1])} with the next."


def _values(recording: Recording, side: str, measure: str, n_positions: int) -> Tensor:
    table = recording.positions[side].table[:n_positions].cpu()
    return similarity(table, normalised=measure == COSINE)


ENCODING_SIMILARITY_VIEW = View(
    name="encoding_similarity",
    title="Similarity",
    explain=(
        "PE·PEᵀ: with sinusoids it only depends on the distance between two positions, so the "
        "picture is the same along every diagonal."
    ),
    needs="positions",
    content=chart_encoding_similarity,
    describe=describe_encoding_similarity,
    controls=(
        SideChoice(),
        Choice("measure", "Measure", (PRODUCT, COSINE)),
        Amount("n_positions", "Positions", 64),
    ),
)


VIEW = (
    ENCODING_CURVES_VIEW,
    ENCODING_HEATMAP_VIEW,
    ENCODING_SHIFT_VIEW,
    ENCODING_SHIFT_MATRIX_VIEW,
    ENCODING_SIMILARITY_VIEW,
)
