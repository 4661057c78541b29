"""heat_map(): the chart of a matrix, with labels or numbers along its sides."""

from torch import Tensor

from viz.exhibits.chart import Axis, Cells, Chart, Grid
from viz.exhibits.shading import Shading

HOVER = "{y} → {x}: {z:.4f}"


def heat_map(
    name: str,
    title: tuple[str, str],
    values: Tensor,
    rows: Axis,
    columns: Axis,
    shading: Shading,
    hover: str = HOVER,
    *,
    masked: Tensor | None = None,
    is_square: bool = False,
    first_column: float = 0.0,
) -> Chart:
    """values [Q, K] as a chart, row 0 on top. title: the words that stand out, and those after.

    masked: bool [Q, K], True where a mask forbids the cell; such cells are left out of the scale,
    shown in the theme's colour for them, and say "masked". first_column: the number of column 0.
    """
    values, marks = values.float().cpu(), []
    if masked is not None and bool(masked.any()):
        marks.append(Cells("", masked.cpu().numpy(), "masked", "{y} → {x}: masked"))
        values = values.masked_fill(masked.cpu(), float("nan"))
    grid = Grid(values.numpy(), shading, hover, columns=(first_column, 1.0))
    return Chart(name, *title, columns, rows, (*marks, grid), is_square=is_square)
