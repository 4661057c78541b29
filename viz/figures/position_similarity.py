"""How alike learned positions are: the cosine between any two."""

import plotly.graph_objects as go
from torch import Tensor

from viz.figures.heatmap import Side, heatmap, signed_scale
from viz.theme import Theme


def draw(cosines: Tensor, theme: Theme) -> go.Figure:
    """cosines: [P, P]."""
    return heatmap(
        cosines,
        Side("position"),
        Side("position"),
        signed_scale(theme, "cosine"),
        theme,
        id="position_similarity",
        title="<b>Cosine</b> between learned positions",
        hover="positions %{y} and %{x}: %{z:.4f}",
    )


def describe(cosines: Tensor) -> str:
    n = len(cosines)
    next_to = cosines.diagonal(1)
    near = f"; neighbours have {float(next_to.mean()):.4f} on average" if n > 1 else ""
    return f"Cosines between {n} learned positions, least {float(cosines.min()):.4f}{near}."
