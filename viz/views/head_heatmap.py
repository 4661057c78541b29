"""One head: query tokens as rows, key tokens as columns, every weight."""

from transformer.analysis.reading import read, row_tokens, writes
from transformer.analysis.selection import Selection
from transformer.analysis.tables.origins import Sides
from transformer.recording import Attention, Recording
from viz.exhibits.chart import Axis, Chart
from viz.exhibits.shading import weights
from viz.figures.heat_map import heat_map
from viz.labels import kind_name
from viz.map_words import describe_map, row_title
from viz.views.view import HeadChoice, View


def chart(recording: Recording, selection: Selection) -> Chart:
    """The weights of one head [Q, K] on the fixed scale 0 to 1."""
    attention, name = selection.attention(recording), selection.name(recording)
    return heat_map(
        f"head_heatmap {selection.kind} {name}",
        (name, f" {kind_name(selection.kind)}"),
        attention.weights(selection.layer, selection.head),
        rows_of(attention),
        columns_of(attention),
        weights(),
        masked=~attention.allowed(selection.layer, selection.head),
    )


def rows_of(attention: Attention) -> Axis:
    """Cross-attention serves the token about to be written; self-attention the one just read."""
    origins = Sides(attention).queries
    return Axis(row_title(writes(attention)), labels=row_tokens(attention), origins=origins)


def columns_of(attention: Attention) -> Axis:
    """The tokens that are looked at."""
    return Axis("key", labels=attention.keys, origins=Sides(attention).keys)


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
    content=chart,
    describe=describe,
    controls=(HeadChoice(),),
    place="nowhere",
)
