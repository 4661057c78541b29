"""One head: query tokens as rows, key tokens as columns, every weight."""

from math import isnan

import plotly.graph_objects as go
from torch import Tensor

from transformer.metrics.measure import metrics_of
from transformer.recording import Attention, Recording
from viz.labels import label
from viz.theme import Theme
from viz.views.heatmap import Side, heatmap, weight_scale
from viz.views.view import HeadChoice, Selection, View

KIND_TITLES = {
    "encoder_self": "encoder self-attention",
    "decoder_self": "decoder self-attention",
    "cross": "cross-attention",
}


def draw(recording: Recording, theme: Theme, selection: Selection) -> go.Figure:
    """The weights of one head [Q, K] on the fixed scale 0 to 1."""
    attention = selection.attention(recording)
    return heatmap(
        attention.weights(selection.layer, selection.head),
        row_side(attention),
        Side("key", attention.keys),
        weight_scale(theme),
        theme,
        id=f"head_heatmap {selection.kind} {selection}",
        title=f"<b>{selection}</b> {KIND_TITLES.get(selection.kind, selection.kind)}",
        masked=~attention.allowed(selection.layer)[selection.head],
    )


def row_side(attention: Attention) -> Side:
    """Cross-attention serves the token about to be written; self-attention the one just read."""
    if attention.produced is not None and attention.queries != attention.keys:
        return Side("query: token being produced", attention.produced)
    return Side("query: token read", attention.queries)


def describe(recording: Recording, selection: Selection) -> str:
    attention = selection.attention(recording)
    weights = attention.weights(selection.layer, selection.head)
    query, key = divmod(int(weights.argmax()), weights.size(1))
    rows = row_side(attention).tokens or ()
    return (
        f"{selection}, {KIND_TITLES.get(selection.kind, selection.kind)} from "
        f"{weights.size(0)} queries to {weights.size(1)} keys: the strongest weight is "
        f"{weights[query, key]:.2f}, from {label(rows[query])} to {label(attention.keys[key])}"
        f"{_favourite(attention, weights)}."
    )


def _favourite(attention: Attention, weights: Tensor) -> str:
    """The place (previous, same, next, first token) that gets most, as "; 71 % on ..."."""
    metrics = metrics_of(attention)
    shares = {
        metrics[name]: float(metrics[name].compute(weights[None]))
        for name in ("previous", "same", "next", "first")
        if name in metrics
    }
    metric, share = max(shares.items(), key=lambda item: -1 if isnan(item[1]) else item[1])
    return f"; {metric.text(share)} on the {metric.title.lower()}"


VIEW = View(
    name="head_heatmap",
    title="Heatmap",
    explain=(
        "Each row is a query and shares its attention, 1 in all, among the keys. Cells that a "
        "mask forbids have a colour of their own."
    ),
    needs="attentions",
    draw=draw,
    describe=describe,
    controls=(HeadChoice(),),
)
