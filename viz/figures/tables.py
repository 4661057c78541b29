"""Small tables of numbers, and the chart of a matrix."""

from collections.abc import Sequence

from torch import Tensor

from viz.exhibits.chart import Axis, Cells, Chart, Grid, Shading
from viz.exhibits.table import Cell, Column, Row, Table
from viz.lessons.task import even, log_loss, percent_of, shares

# Somebody's guess beside the weights of a head.


GUESS = {
    "word": "Word",
    "you": "You",
    "even": "Even",
    "head": "The head",
    "bars": "{guessed} (upper bar), the head (lower bar)",
    "foot": "Your guess costs {own} nats, an even one {even}: less is better.",
}


def guess_table(
    words: Sequence[str], points: Sequence[float] | None, weights: Sequence[float]
) -> Table:
    """A row per word: the guess above the weight, as bars and as numbers; and what both cost.

    points: None where nobody guessed: an even guess is shown.
    """
    guess = even(len(words)) if points is None else shares(points)
    rows = [
        Row(Cell(word), [Cell(percent_of(p)), Cell(percent_of(a)), Cell(bars=(p, a))])
        for word, p, a in zip(words, guess, weights, strict=True)
    ]
    costs = (log_loss(weights, guess), log_loss(weights, even(len(words))))
    yours = GUESS["foot"].format(own=f"{costs[0]:.2f}", even=f"{costs[1]:.2f}")
    guessed = GUESS["even" if points is None else "you"]
    bars = GUESS["bars"].format(guessed=guessed)
    titles = (GUESS["word"], guessed, GUESS["head"], bars)
    foot = "" if points is None else yours
    return Table("Guess", list(map(Column, titles)), rows, kind="list", foot=foot)


# The numbers of a task to work with.


def numbers_table(rows: Sequence[tuple[str, str]]) -> Table:
    """Names and values."""
    lines = [Row(Cell(name), [Cell(value)]) for name, value in rows]
    return Table("Numbers", [Column(), Column()], lines, kind="list")


# heat_map(): the chart of a matrix, with labels or numbers along its sides.

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
