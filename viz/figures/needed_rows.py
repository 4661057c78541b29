"""Rows of attention as they are and as they would have to be, head by head."""

from collections.abc import Sequence

import torch

from transformer.analysis.needed import Needed
from transformer.analysis.tables.origins import Sides
from transformer.token import Token
from viz.exhibits.chart import Axis, Chart
from viz.exhibits.shading import weights
from viz.figures.heat_map import heat_map

TITLE = "What these heads look at now, and what they would have to look at"


def chart(needed: Needed, names: Sequence[str], keys: Sequence[Token], sides: Sides) -> Chart:
    """Two lines a head, one below the other.

    names: of the heads; keys: what they look at; sides: of their kind of attention.
    """
    values = torch.stack([line for row in needed.rows for line in (row.before, row.after)])
    labels = [f"{name}·{when}" for name in names for when in ("now", "needed")]
    queries = [sides.query(row.edit.query) for row in needed.rows for _ in ("now", "needed")]
    lines = Axis("head", labels=labels, origins=queries)
    columns, hover = Axis("key", labels=keys, origins=sides.keys), "{y}, {x}: {z:.4f}"
    chart = heat_map("needed-rows", ("", TITLE), values, lines, columns, weights(), hover)
    return chart.in_words
