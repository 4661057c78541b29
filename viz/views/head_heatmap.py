"""One head: query tokens as rows, key tokens as columns, every weight."""

import plotly.graph_objects as go

from transformer.analysis.reading import read
from transformer.analysis.selection import Selection
from transformer.recording import Attention, Recording
from viz.figures.heatmap import Side, heatmap, weight_scale
from viz.labels import kind_name
from viz.map_words import describe_map, row_title
from viz.theme import Theme
from viz.views.view import HeadChoice, View


def draw(recording: Recording, theme: Theme, selection: Selection) -> go.Figure:
    """The weights of one head [Q, K] on the fixed scale 0 to 1."""
    attention, name = selection.attention(recording), selection.name(recording)
    return heatmap(
        attention.weights(selection.layer, selection.head),
        row_side(attention),
        Side("key", attention.keys),
        weight_scale(theme),
        theme,
        id=f"head_heatmap {selection.kind} {name}",
        title=f"<b>{name}</b> {kind_name(selection.kind)}",
        masked=~attention.allowed(selection.layer, selection.head),
    )


def row_side(attention: Attention) -> Side:
    """Cross-attention serves the token about to be written; self-attention the one just read."""
    if attention.produced is not None and attention.queries != attention.keys:
        return Side(row_title(True), attention.produced)
    return Side(row_title(False), attention.queries)


def describe(recording: Recording, selection: Selection) -> str:
    return describe_map(read(recording, selection.kind), selection.layer, selection.head)


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
    place="nowhere",
)
