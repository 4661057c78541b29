"""The positional encodings as the model holds them: position x dimension."""

from transformer.recording import Recording
from viz.exhibits.chart import Axis, Chart
from viz.exhibits.shading import differences
from viz.figures.heat_map import heat_map
from viz.labels import number
from viz.views.view import Amount, SideChoice, View


def chart(recording: Recording, side: str, n_positions: int) -> Chart:
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


def describe(recording: Recording, side: str, n_positions: int) -> str:
    positions = recording.positions[side]
    table = positions.table[:n_positions]
    n_positions, d_model = table.shape
    return (
        f"{positions.title.capitalize()} of the {side}: {n_positions} positions by {d_model} "
        f"dimensions, values from {number(table.min())} to {number(table.max())}."
    )


VIEW = View(
    name="encoding_heatmap",
    title="Position × dimension",
    explain="What tells the model each token's place. A row is a position.",
    needs="positions",
    content=chart,
    describe=describe,
    controls=(SideChoice(), Amount("n_positions", "Positions", 64)),
)
