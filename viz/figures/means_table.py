"""A head off, over many sentences: the mean change, how sure it is, and how often words change."""

from collections.abc import Sequence
from dataclasses import dataclass

from viz.exhibits.table import Cell, Column, Row, Table
from viz.figures.heads.column_heads import INTERVAL
from viz.labels import decimals_of, percent, signed

MEAN = Column(
    "mean", explain="The mean change of the whole output over all sentences, while the head is off."
)
OTHERS = {
    "words": "The share of sentences in which another token becomes the most probable.",
    "tokens": "The share of sentences in which another token becomes the most probable.",
    "classes": "The share of sentences in which another class becomes the most probable.",
}
"""A name of what may become another one -> the words of its column."""


@dataclass(frozen=True)
class MeanOff:
    """A head off, over many sentences: the change of the whole output, in nats, or in degrees."""

    title: str
    address: str
    mean: float
    low: float | None
    high: float | None
    share_other: float
    """The share of sentences in which another token, or class, becomes the most probable."""


def means_table(
    means: Sequence[MeanOff], unit: str = "nats", n_sentences: int = 0, others: str = "words"
) -> Table:
    """A row per head: the mean as a dot, its interval as a line, over one scale with 0.

    others: what may become another one; empty: the model chooses nothing.
    """
    ends = [
        0.0,
        *(it for each in means for it in (each.mean, each.low, each.high) if it is not None),
    ]
    least, most = min(ends), max(ends)
    n = decimals_of(max(-least, most))

    def row_of(each: MeanOff) -> Row:
        cells = [
            Cell(signed(each.mean, n), each.mean),
            _interval(each, n),
            *([Cell(percent(each.share_other, 0), each.share_other)] if others else []),
            Cell(interval=(each.low, each.mean, each.high)),
        ]
        return Row(Cell(each.title, link=each.address), cells)

    scale = Column(f"{signed(least, n)} to {signed(most, n)} {unit}", axis=(least, most))
    other = [Column(f"other {others}", explain=OTHERS[others])] if others else []
    columns = [Column("off"), MEAN, INTERVAL, *other, scale]
    return Table("Means", columns, list(map(row_of, means)), n_sentences=n_sentences)


def _interval(each: MeanOff, decimals: int) -> Cell:
    if each.low is None or each.high is None:
        return Cell("of one sentence")
    text = f"{signed(each.low, decimals)} to {signed(each.high, decimals)}"
    return Cell(text, each.mean, ends=(each.low, each.high))
