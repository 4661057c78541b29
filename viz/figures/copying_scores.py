"""The copying score of every head of a kind."""

import plotly.graph_objects as go
from torch import Tensor

from transformer.tokenizer import Token
from viz.figures.heatmap import Side, heatmap, signed_scale
from viz.theme import Theme


def draw(scores: Tensor, theme: Theme) -> go.Figure:
    """scores: [L, H], from -1 to 1."""
    rows, columns = (
        Side(title, [Token(i, f"{letter}{i}") for i in range(n)])
        for title, letter, n in zip(("layer", "head"), "LH", scores.shape, strict=True)
    )
    return heatmap(
        scores,
        rows,
        columns,
        signed_scale(theme, "score"),
        theme,
        id="copying_scores",
        title="<b>Copying score</b> of every head",
        hover="%{y} %{x}: %{z:.4f}",
    )


def describe(scores: Tensor) -> str:
    layer, head = divmod(int(scores.argmax()), scores.size(1))
    return (
        f"Copying scores of {scores.numel()} heads, from {float(scores.min()):.4f} to "
        f"{float(scores.max()):.4f}, which is that of L{layer} H{head}."
    )
