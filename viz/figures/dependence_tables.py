"""A number for every head: layers are rows, heads are columns. A click chooses a head."""

import math
from collections.abc import Sequence

from viz.exhibits.shading import rooted
from viz.exhibits.table import Cell, Column, Legend, Row, Table, Tables


def dependence_cell(address: str, title: str, bits: float, is_chosen: bool) -> Cell:
    """One head. bits: NaN where nothing is known of it."""
    if math.isnan(bits):
        return Cell("—", None, 0.0, link=address, tip=f"{title}: not known", is_marked=is_chosen)
    return Cell(
        f"{bits:.2f}",
        bits,
        rooted(max(0.0, bits)),
        link=address,
        tip=f"{title}: {bits:.4f} bits",
        is_marked=is_chosen,
    )


def dependence_table(title: str, rows: Sequence[tuple[str, Sequence[Cell]]]) -> Table:
    """The heads of one kind of attention. rows: a layer's name, and its heads."""
    n_heads = max((len(cells) for _, cells in rows), default=0)
    return Table(
        title,
        [Column(), *(Column(f"H{head}") for head in range(n_heads))],
        [Row(Cell(name), cells) for name, cells in rows],
        kind="map",
        scale="share",
        title=title,
    )


def dependence_tables(tables: Sequence[Table], says: str) -> Tables:
    """Side by side, shaded by the root of a share of 1 bit. says: what the numbers are."""
    hint = "A click chooses a head."
    return Tables([tables], Legend("share", "0", "1 bit (square-root scale).", says, hint))
