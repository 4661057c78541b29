"""Table 1 of "Attention Is All You Need", with its values at one n, and the lines of its curves.

Streamlit's own tables have no place for the samples of the lines, which are the figures' legend.
"""

import math

from transformer.complexity import LAYERS, LENGTHS, Layer, Measured, Sizes
from viz.exhibits.table import Cell, Column, Row, Sample, Table
from viz.figures.layer_costs import COLOURS, DASHES, QUANTITIES, WIDTHS


def cost_samples() -> list[Cell]:
    """The layers and their lines, where no table stands beside the curves."""
    thin = Sample(COLOURS["convolutional"], 1)
    return [*map(_name, LAYERS), Cell("Convolutional, not dilated", sample=thin)]


def cost_table(sizes: Sizes, n: int, measured: Measured | None) -> Table:
    """One row per layer: formula and value of each cost, and the time at the nearest measured n."""
    near = min(LENGTHS, key=lambda length: abs(math.log(length / n)))
    costs = [
        Column(f"{title} ({_at(n)})", n_columns=2, is_formula=True) for title in QUANTITIES.values()
    ]
    return Table(
        "Costs",
        [Column("Layer"), *costs, Column(f"Measured ({_at(near)})", is_formula=True)],
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
    time = Cell(_time(layer.name, measured, near))
    return Row(_name(layer), [*(cell for two in both for cell in two), time])


def _time(name: str, measured: Measured | None, n: int) -> str:
    if measured is None:
        return "–"
    timing = measured.at(name, n)
    return "left out" if timing is None else f"{timing.ms:.3f} ms"


def _name(layer: Layer) -> Cell:
    """With the line as the figures draw it."""
    sample = Sample(COLOURS[layer.name], WIDTHS[layer.name], DASHES[layer.name])
    return Cell(layer.title, sample=sample)
