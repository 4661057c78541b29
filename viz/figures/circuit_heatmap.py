"""A head's QK or OV circuit between chosen tokens."""

from collections.abc import Sequence

import plotly.graph_objects as go
from torch import Tensor

from transformer.tokenizer import Token
from viz.figures.heatmap import Side, heatmap, signed_scale
from viz.figures.layout import MAX_LABELS
from viz.labels import label
from viz.theme import Theme

TITLES = {
    "qk": ("QK", "score before the softmax", "query", "key"),
    "ov": ("OV", "what attending adds", "attended token", "token whose logit it moves"),
}
"""Circuit -> its name, what a cell is, and its two sides."""

MOST_LABELS = 20
"""Of a side of a small figure."""


def draw(
    circuit: str,
    values: Tensor,
    tokens: Sequence[Token],
    theme: Theme,
    most_labels: int = MAX_LABELS,
) -> go.Figure:
    """values: [N, N] between N tokens. circuit: "qk" or "ov"."""
    name, what, rows, columns = TITLES[circuit]
    return heatmap(
        values,
        Side(rows, tokens),
        Side(columns, tokens),
        signed_scale(theme, "score" if circuit == "qk" else "logit", _bound(values)),
        theme,
        id=f"circuit {circuit}",
        title=f"<b>{name}</b>: {what}",
        square=True,
        most_labels=most_labels,
    )


def draw_small(circuit: str, values: Tensor, tokens: Sequence[Token], theme: Theme) -> go.Figure:
    """The same where two circuits and the copying scores share a row."""
    return draw(circuit, values, tokens, theme, MOST_LABELS)


def describe(circuit: str, values: Tensor, tokens: Sequence[Token]) -> str:
    name, what, *_ = TITLES[circuit]
    row, column = divmod(int(values.argmax()), len(tokens))
    return (
        f"{name} circuit between {len(tokens)} tokens, {what}: the largest value is "
        f"{float(values[row, column]):.4f}, of {label(tokens[row])} and {label(tokens[column])}; "
        f"the smallest is {float(values.min()):.4f}."
    )


def _bound(values: Tensor) -> float:
    return float(values.abs().amax()) or 1.0
