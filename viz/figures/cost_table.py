"""Table 1 of "Attention Is All You Need" as HTML, with its values at one n.

Streamlit's own tables have no place for the samples of the lines, which are the figures' legend.
"""

import math
import re

from transformer.complexity import LAYERS, LENGTHS, Layer, Measured, Sizes
from viz.figures.layer_costs import COLOURS, DASHES, QUANTITIES, WIDTHS
from viz.theme import Theme

_SAMPLE = """
  .costs .sample { display: inline-block; width: 28px; margin-right: 0.6rem; }
  .costs .sample { vertical-align: middle; }
"""
_STYLE = """
<style>
  .costs { overflow-x: auto; }
  .costs table { border-collapse: collapse; width: 100%; font-size: 0.95rem; white-space: nowrap; }
  .costs th, .costs td { padding: 0.32rem 0.6rem; border: 0; text-align: right; }
  .costs th { font-weight: 400; }
  .costs thead th { color: DIM; font-size: 0.875rem; white-space: normal; }
  .costs tbody tr { border-top: 1px solid GRID; }
  .costs tbody th, .costs .formula, .costs thead th:first-child { text-align: left; }
  .costs .formula { padding-left: clamp(0.6rem, 1.2vw, 1.6rem); }
  LINE
</style>
"""
_LEGEND = """
<style>
  .costs.legend { display: flex; flex-wrap: wrap; gap: 0.2rem 1.6rem; font-size: 0.95rem; }
</style>
"""


def cost_legend() -> str:
    """The layers and their lines, where no table stands beside the curves."""
    each = [f"<span>{_sample(layer.name)}{layer.title}</span>" for layer in LAYERS]
    each.append(f"<span>{_line(COLOURS['convolutional'], 1)}Convolutional, not dilated</span>")
    return f'<style>{_SAMPLE}</style>{_LEGEND}<div class="costs legend">{"".join(each)}</div>'


def cost_table(sizes: Sizes, n: int, measured: Measured | None, theme: Theme) -> str:
    """One row per layer: formula and value of each cost, and the time at the nearest measured n."""
    near = min(LENGTHS, key=lambda length: abs(math.log(length / n)))
    titles = "".join(
        f'<th colspan="2" scope="col">{title} ({_at(n)})</th>' for title in QUANTITIES.values()
    )
    rows = "".join(_row(layer, sizes, n, measured, near) for layer in LAYERS)
    style = _STYLE.replace("DIM", theme.dim).replace("GRID", theme.grid).replace("LINE", _SAMPLE)
    head = f'<th scope="col">Layer</th>{titles}<th scope="col">Measured ({_at(near)})</th>'
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f'{style}<div class="costs">{table}</div>'


def _at(n: int) -> str:
    return f"<i>n</i>&nbsp;=&nbsp;{n:,}"


def formula_html(formula: str) -> str:
    """Letters in italics, what follows an underscore below the line.

    >>> formula_html("O(log_k(n))")
    'O(log<sub><i>k</i></sub>(<i>n</i>))'
    """
    lowered = re.sub(r"_(\w)", r"<sub>\1</sub>", formula)
    return re.sub(r"(?<![a-z<])([dknr])(?![a-z])", r"<i>\1</i>", lowered)


def _row(layer: Layer, sizes: Sizes, n: int, measured: Measured | None, near: int) -> str:
    costs = [getattr(layer, quantity) for quantity in QUANTITIES]
    cells = "".join(
        f'<td class="formula">{formula_html(cost.formula)}</td><td>{cost.value(n, sizes):,}</td>'
        for cost in costs
    )
    name = f'<th scope="row">{_sample(layer.name)}{layer.title}</th>'
    return f"<tr>{name}{cells}<td>{_time(layer.name, measured, near)}</td></tr>"


def _time(name: str, measured: Measured | None, n: int) -> str:
    if measured is None:
        return "–"
    timing = measured.at(name, n)
    return "left out" if timing is None else f"{timing.ms:.3f} ms"


def _sample(name: str) -> str:
    """The line as the figures draw it."""
    drawn, gap = DASHES[name]
    line = f"{COLOURS[name]} 0 {drawn}px, transparent {drawn}px {drawn + gap}px"
    return _line(f"repeating-linear-gradient(to right, {line})", WIDTHS[name])


def _line(background: str, width: float) -> str:
    return f'<span class="sample" style="background: {background}; height: {width}px"></span>'
