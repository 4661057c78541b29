"""The heads that one head reads, and those that read it: its composition with others."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from transformer.corpus.atlas import Atlas
from transformer.corpus.shipped import Place
from transformer.inspection.composition import Composition
from viz.exhibits.table import Cell, Column, Row, Table
from viz.figures.heads.column_heads import DOES
from viz.figures.heads.names import head_name
from viz.labels import number

MOST = 5
"""Rows of each direction."""
COLUMNS = (
    Column("head"),
    Column("how", explain="The side of the reading head, by whose matrix it reads the other."),
    Column(
        "strength",
        explain="How much of what the one head writes the other reads, by the norms of their "
        "matrices, from 0 to 1 (Elhage et al. 2021).",
    ),
    Column(
        "by chance", explain="The strength of matrices that have nothing to do with each other."
    ),
    DOES,
)


def circuits_table(
    name: str,
    before: Sequence[Composition],
    after: Sequence[Composition],
    atlas: Atlas,
    link_of: Callable[[Place], str],
) -> Table:
    """The strongest in each direction."""
    rows = [
        *(_row(each, each.writer, "writes to its", atlas, link_of) for each in before[:MOST]),
        *(_row(each, each.reader, "reads it by", atlas, link_of) for each in after[:MOST]),
    ]
    rows = [replace(row, is_first=at == len(before[:MOST]) > 0) for at, row in enumerate(rows)]
    return Table(name, COLUMNS, rows)


def _row(
    of: Composition,
    other: Place,
    how: str,
    atlas: Atlas,
    link_of: Callable[[Place], str],
) -> Row:
    cells = [
        Cell(f"{how} {of.side}"),
        Cell(number(of.strength, 3), of.strength),
        Cell(number(of.chance, 3), of.chance),
        Cell(" · ".join(label.title for label in atlas.labels.get(other, ()))),
    ]
    return Row(Cell(head_name(other, atlas), link=link_of(other)), cells)
