"""The positional encodings as the model holds them: position x dimension."""

import plotly.graph_objects as go

from transformer.recording import Recording
from viz.figures.heatmap import Side, heatmap, signed_scale
from viz.theme import Theme
from viz.views.view import Amount, SideChoice, View


def draw(recording: Recording, theme: Theme, side: str, n_positions: int) -> go.Figure:
    """The first n_positions rows of the table [P, D]."""
    positions = recording.positions[side]
    table = positions.table[:n_positions].float().cpu()
    return heatmap(
        table,
        Side("position"),
        Side("dimension"),
        signed_scale(theme, "encoding", float(table.abs().amax()) or 1.0),
        theme,
        id=f"encoding_heatmap {side}",
        title=f"<b>{positions.title.capitalize()}</b> of the {side}",
        hover="position %{y}, dimension %{x}: %{z:.4f}",
    )


def describe(recording: Recording, side: str, n_positions: int) -> str:
    positions = recording.positions[side]
    table = positions.table[:n_positions]
    n_positions, d_model = table.shape
    return (
        f"{positions.title.capitalize()} of the {side}: {n_positions} positions by {d_model} "
        f"dimensions, values from {table.min():.2f} to {table.max():.2f}."
    )


VIEW = View(
    name="encoding_heatmap",
    title="Position × dimension",
    explain="What tells the model each token's place. A row is a position.",
    needs="positions",
    draw=draw,
    describe=describe,
    controls=(SideChoice(), Amount("n_positions", "Positions", 64)),
)
