"""The costs of layers as curves and as table 1 of AIAYN."""

import math
from dataclasses import replace

from transformer.complexity import CONTIGUOUS, LAYERS, LENGTHS, Cost, Layer, Measured, Sizes
from viz.exhibits.chart import Axis, Chart, Curve, Dash, Mark, Rule, Span
from viz.exhibits.table import Cell, Column, Row, Sample, Table
from viz.theme import SERIES

# The costs of layers as curves over the length of the sequence, and the times of real ones.
#
# Not a view of a recording: the page "Why attention" draws these figures by itself.

SHORTEST, LONGEST = 4, 4096
"""The n that curves are drawn for."""
QUANTITIES = {
    "operations": "Operations per layer",
    "sequential": "Sequential steps per layer",
    "longest_path": "Longest path, in steps",
}
"""Attribute of a layer -> title, with the unit of its numbers."""
COLOURS = dict(zip((layer.name for layer in LAYERS), SERIES, strict=False))
DASHES = {
    "self_attention": (1, 0),
    "restricted": (9, 5),
    "recurrent": (5, 3),
    "convolutional": (2, 3),
}
"""Pixels drawn and left out: where curves lie on each other, the one below shows through."""
WIDTHS = {layer.name: 2.0 for layer in LAYERS} | {"self_attention": 3.5}
HEIGHT = 212
"""Pixels between the axes."""
CURVE_LENGTHS = [(4**i, f"{4**i:,}") for i in range(1, 7)]
AMOUNTS = [(10**i, f"{10 ** (i % 3)}{'kMGTP'[i // 3 - 1] if i > 2 else ''}") for i in range(18)]
"""Numbers along the axes: powers of 10 as 1, 10, 100, 1k, ..."""


def lengths() -> list[int]:
    """Every n up to 64, where whole steps show, then 16 to each doubling."""
    doublings = round(math.log2(LONGEST / 64))
    return [*range(SHORTEST, 64), *(round(64 * 2 ** (i / 16)) for i in range(16 * doublings + 1))]


def cost_chart(quantity: str, sizes: Sizes, n: int, has_legend: bool) -> Chart:
    """One column of table 1, one curve per layer, both axes logarithmic; the chosen n is marked.

    has_legend: beside the table its samples are the legend.
    """
    marks: list[Mark] = [_curve(layer, getattr(layer, quantity), sizes) for layer in LAYERS]
    if quantity == "longest_path":  # kernels without dilation: thin, as it is a remark
        curve = _curve(LAYERS[-1], CONTIGUOUS, sizes)
        marks.append(replace(curve, name="… not dilated", width=1, dash="solid"))
    if quantity == "operations":
        marks += _equal(sizes.d)
    marks.append(_chosen(n))
    name = f"layer_costs {quantity} {sizes} n={n}"
    y = Axis("", is_log=True, has_grid=True, ticks=AMOUNTS)
    return Chart(name, QUANTITIES[quantity], "", _lengths(), y, marks, HEIGHT, has_legend)


def time_chart(measured: Measured, n: int, has_legend: bool) -> Chart:
    """Measured milliseconds of real layers, one curve per layer, like the formulas beside it."""
    curves = [
        replace(
            _look(layer, "{y:.3g} ms"),
            x=[timing.n for timing in measured.times[layer.name]],
            y=[timing.ms for timing in measured.times[layer.name]],
            point=5,
        )
        for layer in LAYERS
    ]
    marks: list[Mark] = [*curves, *_equal(measured.sizes.d), _chosen(n)]
    name, title = f"layer_costs times {measured.sizes} n={n}", "Measured, in milliseconds"
    y = Axis("", is_log=True, has_grid=True)
    return Chart(name, title, "", _lengths(), y, marks, HEIGHT, has_legend)


def describe_costs(quantity: str, sizes: Sizes, n: int) -> str:
    """Say the values of the curves of `cost_chart` at n."""
    values = ", ".join(
        f"{layer.title.lower()} {getattr(layer, quantity).value(n, sizes):,}" for layer in LAYERS
    )
    over = (
        f"over the length n of the sequence, with d = {sizes.d:,}, k = {sizes.k:,}, r = {sizes.r:,}"
    )
    return f"{QUANTITIES[quantity]}, {over}. At n = {n:,}: {values}."


def describe_times(measured: Measured) -> str:
    """The last point of each curve of `time_chart`."""
    last = {layer.title.lower(): measured.times[layer.name][-1] for layer in LAYERS}
    values = ", ".join(f"{name} {t.ms:.3g} ms at n = {t.n:,}" for name, t in last.items())
    return f"Measured times over the length of the sequence: {values}."


def _curve(layer: Layer, cost: Cost, sizes: Sizes) -> Curve:
    values = [cost.value(n, sizes) for n in lengths()]
    return replace(_look(layer, "{y:,}"), x=lengths(), y=values)


def _look(layer: Layer, hover: str) -> Curve:
    number, (drawn, gap) = LAYERS.index(layer), DASHES[layer.name]
    dash: Dash = (drawn, gap) if gap else "solid"
    return Curve(layer.title, (), (), number, hover, WIDTHS[layer.name], dash)


def _equal(d: int) -> tuple[Span, Rule]:
    """The line n = d: self-attention is the cheaper of n² · d and n · d² on its left."""
    return Span(SHORTEST, d), Rule(d, f"n = d = {d:,}", place="bottom")


def _chosen(n: int) -> Rule:
    return Rule(n, f"n = {n:,}", ink="accent", dash="solid")


def _lengths() -> Axis:
    ends = (SHORTEST, LONGEST)
    return Axis("n, in positions", is_log=True, ends=ends, has_grid=True, ticks=CURVE_LENGTHS)


# Table 1 of "Attention Is All You Need", with its values at one n, and the lines of its curves.
#
# Streamlit's own tables have no place for the samples of the lines, which are the figures'
# legend.


def cost_samples() -> list[Cell]:
    """The layers and their lines, where no table stands beside the curves."""
    thin = Sample(COLOURS["convolutional"], 1)
    return [*map(_name, LAYERS), Cell("Convolutional, not dilated", sample=thin)]


def cost_table(sizes: Sizes, n: int, measured: Measured | None) -> Table:
    """One row per layer: each cost as formula and value; the time at the nearest n, if measured."""
    near = min(LENGTHS, key=lambda length: abs(math.log(length / n)))
    costs = [
        Column(f"{title} ({_at(n)})", n_columns=2, is_formula=True) for title in QUANTITIES.values()
    ]
    times = [] if measured is None else [Column(f"Measured ({_at(near)})", is_formula=True)]
    return Table(
        "Costs",
        [Column("Layer"), *costs, *times],
        [_row(layer, sizes, n, measured, near) for layer in LAYERS],
        kind="list",
    )


def _at(n: int) -> str:
    return f"n\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{n:,}"


def _row(layer: Layer, sizes: Sizes, n: int, measured: Measured | None, near: int) -> Row:
    costs = [getattr(layer, quantity) for quantity in QUANTITIES]
    both = [
        (Cell(cost.formula, is_formula=True), Cell(f"{cost.value(n, sizes):,}")) for cost in costs
    ]
    times = [] if measured is None else [Cell(_time(layer.name, measured, near))]
    return Row(_name(layer), [*(cell for two in both for cell in two), *times])


def _time(name: str, measured: Measured, n: int) -> str:
    timing = measured.at(name, n)
    return "left out" if timing is None else f"{timing.ms:.3f} ms"


def _name(layer: Layer) -> Cell:
    """With the line as the figures draw it."""
    sample = Sample(COLOURS[layer.name], WIDTHS[layer.name], DASHES[layer.name])
    return Cell(layer.title, sample=sample)
