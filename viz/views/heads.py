"""Views of heads: one as a heat map, or two as their difference."""

from dataclasses import replace

from transformer.analysis.metrics.metric import jensen_shannon, largest_difference
from transformer.analysis.reading import Selection, farthest, maxima, read, row_tokens, writes
from transformer.analysis.tables import Sides
from transformer.recording import Attention, Recording
from viz.exhibits.chart import Axis, Chart, Shading, differences, nothing, weights
from viz.figures.tables import heat_map
from viz.labels import kind_name
from viz.map_words import describe_map, row_title
from viz.views.view import HeadChoice, View

# One head: query tokens as rows, key tokens as columns, every weight.


def chart_head_heatmap(recording: Recording, selection: Selection) -> Chart:
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


def describe_head_heatmap(recording: Recording, selection: Selection) -> str:
    return describe_map(read(recording, selection.kind), selection.layer, selection.head)


HEAD_HEATMAP_VIEW = View(
    name="head_heatmap",
    title="Heatmap",
    explain=(
        "Each row is a query and shares its attention, 1 in all, among the keys. Cells that a "
        "mask forbids have a colour of their own."
    ),
    needs="attentions",
    content=chart_head_heatmap,
    describe=describe_head_heatmap,
    controls=(HeadChoice(),),
    place="nowhere",
)


# Two heads of the same tokens: the weights of one minus those of the other.

A_LESS_B = "A − B"
DIFFERENT = (
    "No difference: the heads have different rows or columns ({rows} × {columns} and {other_rows} "
    "× {other_columns} tokens)."
)
DIFFERENCE = (
    "{first} of {kind} minus {second} of {other}: the largest difference of two weights is "
    "{largest}, the Jensen-Shannon divergence {bits} bits."
)
CELL = "{row} → {column}: {value}"
"""A cell of the difference, where a component draws it."""
MOST_CELLS = 512**2
"""A larger difference is drawn in blocks: a browser takes seconds for millions of cells."""
MOST_BLOCKS = 256
"""Blocks along a side."""
MOST_LABELS = 32
"""Labels along a side: square cells are no wider than half a page allows."""


def why_not(recording: Recording, first: Selection, second: Selection) -> str | None:
    """Say in a sentence why two heads have no difference; None where they have one."""
    a, b = first.attention(recording), second.attention(recording)
    if a.queries == b.queries and a.keys == b.keys:
        return None
    rows, other_rows = len(a.queries), len(b.queries)
    sizes = {"rows": rows, "columns": len(a.keys), "other_rows": other_rows}
    return DIFFERENT.format(**sizes, other_columns=len(b.keys))


def chart_head_difference(recording: Recording, first: Selection, second: Selection) -> Chart:
    """first - second [Q, K] on a scale up to the largest difference, or why there is none."""
    name = f"head_difference {first.kind} {first} {second.kind} {second}"
    title, more, hover = f"{first} − {second}", "", "{y} → {x}: {z:+.4f}"
    reason = why_not(recording, first, second)
    if reason is not None:
        return nothing(name, title, reason)
    attention, other = first.attention(recording), second.attention(recording)
    masked = ~attention.allowed(first.layer, first.head)
    masked &= ~other.allowed(second.layer, second.head)
    values = attention.weights(first.layer, first.head) - other.weights(second.layer, second.head)
    rows, columns = rows_of(attention), columns_of(attention)
    if values.numel() > MOST_CELLS:
        n = -(-max(values.shape) // MOST_BLOCKS)
        values, masked = farthest(values[None], (n, n))[0], ~maxima(~masked[None], (n, n))[0]
        rows, columns = (
            replace(side, labels=side.labels[::n], origins=side.origins[::n])
            for side in (rows, columns)
        )
        what = f"the farthest from 0 of {n} × {n} cells"
        more, hover = f" · each cell is {what}", f"from {{y}} and {{x}} on, {what}: {{z:+.4f}}"
    rows, columns = (replace(side, most_labels=MOST_LABELS) for side in (rows, columns))
    shading = _shading(float(values.abs().max()))
    names = (name, (title, more))
    return heat_map(*names, values, rows, columns, shading, hover, masked=masked, is_square=True)


def _shading(largest: float) -> Shading:
    if not largest:
        return differences(f"{A_LESS_B} · no difference")
    return differences(f"{A_LESS_B} · up to the largest: ±{largest:.2g}", largest)


def describe_head_difference(recording: Recording, first: Selection, second: Selection) -> str:
    reason = why_not(recording, first, second)
    if reason is not None:
        return reason
    a = first.attention(recording).weights(first.layer, first.head)
    b = second.attention(recording).weights(second.layer, second.head)
    kinds = {"kind": _kind(first), "other": _kind(second)}
    largest, bits = f"{largest_difference(a, b):.2g}", f"{jensen_shannon(a, b):.2g}"
    return DIFFERENCE.format(first=first, second=second, **kinds, largest=largest, bits=bits)


def _kind(selection: Selection) -> str:
    """The name of the kind of attention; "_b" ends that of another run."""
    return kind_name(selection.kind.removesuffix("_b"))


HEAD_DIFFERENCE_VIEW = View(
    name="head_difference",
    title="Difference",
    explain="Where the first head attends more than the second, and where less.",
    needs="attentions",
    content=chart_head_difference,
    describe=describe_head_difference,
    controls=(HeadChoice("first", "Head A"), HeadChoice("second", "Head B")),
    place="compare",
)


VIEW = (
    HEAD_HEATMAP_VIEW,
    HEAD_DIFFERENCE_VIEW,
)
