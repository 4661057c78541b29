"""One head: query tokens as rows, key tokens as columns, every weight."""

from dataclasses import replace
from math import isnan

import plotly.graph_objects as go
from torch import Tensor

from transformer.analysis.metrics.measure import metrics_of
from transformer.analysis.reading import AttentionMap, Reading, read
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
        masked=~attention.allowed(selection.layer, selection.head),
    )


def row_side(attention: Attention) -> Side:
    """Cross-attention serves the token about to be written; self-attention the one just read."""
    if attention.produced is not None and attention.queries != attention.keys:
        return Side(row_title(True), attention.produced)
    return Side(row_title(False), attention.queries)


def row_title(is_produced: bool) -> str:
    """What a row stands for: the token that it wrote, or the one that it read."""
    return "query: token being produced" if is_produced else "query: token read"


def describe(recording: Recording, selection: Selection) -> str:
    return describe_map(read(recording, selection.kind), selection.layer, selection.head)


def describe_map(map: AttentionMap, layer: int, head: int) -> str:
    """One true sentence about the map of one head, however it is read."""
    values = map.values(layer, head)
    title = f"{map_name(map, layer, head)}, {KIND_TITLES.get(map.kind, map.kind)}"
    sizes = f"{values.size(0)} queries to {values.size(1)} keys"
    cell = strongest(values, map.allowed(layer, head))
    if cell is None:
        return f"{title} from {sizes}: every cell is masked."
    row, column = cell
    return (
        f"{title} from {sizes}: the strongest {map.lens.title.lower()} is "
        f"{values[row, column]:.2f}, from {label(map.rows[row])} to {label(map.columns[column])}"
        f"{_favourite(map.attention, values) if _is_plain(map) else ''}."
    )


def map_name(map: AttentionMap, layer: int, head: int) -> str:
    """ "L2 H3", or "L2" where a lens makes one map of a whole layer."""
    return f"L{layer} H{head}" if map.lens.per_head else f"L{layer}"


def strongest(values: Tensor, allowed: Tensor) -> tuple[int, int] | None:
    """Row and column of the value [R, C] furthest from 0; None where all cells are masked.

    Rows with one cell to choose from are left out, as their 1.0 is no finding, unless all are so.
    """
    free = allowed & (allowed.sum(-1, keepdim=True) > 1)
    candidates = free if bool(free.any()) else allowed
    if not bool(candidates.any()):
        return None
    row, column = divmod(int(values.abs().masked_fill(~candidates, -1.0).argmax()), values.size(1))
    return row, column


def _is_plain(map: AttentionMap) -> bool:
    """Whether the map is the weights themselves, with a row and a column for every token."""
    return map.reading == replace(Reading(), rows=map.reading.rows)


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
