"""Two heads of the same tokens: the weights of one minus those of the other."""

from dataclasses import replace

from transformer.analysis.blocks import farthest, maxima
from transformer.analysis.metrics.comparison import jensen_shannon, largest_difference
from transformer.analysis.selection import Selection
from transformer.recording import Recording
from viz.exhibits.chart import Chart, nothing
from viz.exhibits.shading import Shading, differences
from viz.figures.heat_map import heat_map
from viz.labels import kind_name
from viz.views.head_heatmap import columns_of, rows_of
from viz.views.view import HeadChoice, View

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
    return (
        "No difference: the heads have different rows or columns "
        f"({len(a.queries)} × {len(a.keys)} and {len(b.queries)} × {len(b.keys)} tokens)."
    )


def chart(recording: Recording, first: Selection, second: Selection) -> Chart:
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
        return differences("A − B · no difference")
    return differences(f"A − B · up to the largest: ±{largest:.2g}", largest)


def describe(recording: Recording, first: Selection, second: Selection) -> str:
    reason = why_not(recording, first, second)
    if reason is not None:
        return reason
    a = first.attention(recording).weights(first.layer, first.head)
    b = second.attention(recording).weights(second.layer, second.head)
    return (
        f"{first} of {_kind(first)} minus {second} of {_kind(second)}: "
        f"the largest difference of two weights is {largest_difference(a, b):.2g}, "
        f"the Jensen-Shannon divergence {jensen_shannon(a, b):.2g} bits."
    )


def _kind(selection: Selection) -> str:
    """The name of the kind of attention; "_b" ends that of another run."""
    return kind_name(selection.kind.removesuffix("_b"))


VIEW = View(
    name="head_difference",
    title="Difference",
    explain="Where the first head attends more than the second, and where less.",
    needs="attentions",
    content=chart,
    describe=describe,
    controls=(HeadChoice("first", "Head A"), HeadChoice("second", "Head B")),
    place="compare",
)
