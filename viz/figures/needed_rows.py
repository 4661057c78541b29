"""Rows of attention as they are and as they would have to be, head by head."""

from collections.abc import Sequence

import plotly.graph_objects as go
import torch

from transformer.analysis.needed import Needed
from transformer.tokenizer import Token
from viz.figures.heatmap import Side, heatmap, weight_scale
from viz.theme import Theme


def needed_rows(
    found: Needed, names: Sequence[str], keys: Sequence[Token], theme: Theme
) -> go.Figure:
    """Two lines a head, one below the other. names: of the heads; keys: what they look at."""
    values = torch.stack([line for row in found.rows for line in (row.before, row.after)])
    lines = [Token(0, f"{name}·{when}") for name in names for when in ("now", "needed")]
    return heatmap(
        values,
        Side("head", lines),
        Side("key", keys),
        weight_scale(theme),
        theme,
        id="needed-rows",
        title="What these heads look at now, and what they would have to look at",
        hover="%{y}, %{x}: %{z:.4f}",
    )
