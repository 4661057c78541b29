"""A map of a text without weights, on which somebody draws the cells that are asked for."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from transformer.analysis.reading import AttentionMap
from transformer.corpus.questions import open_cells
from viz.components.kit.browser import Component, envelope, pack, pieces
from viz.components.kit.sync import mountable
from viz.theme import Theme

CELL_DRAWING = Component("cell_drawing")
_drawing = mountable(CELL_DRAWING)


def cell_drawing_data(
    map: AttentionMap, cells: Sequence[tuple[int, int]], most: int, theme: Theme
) -> bytes:
    """Pack the words along both sides, and the cells that may be drawn: u1 [R, C].

    cells: row and column of each that is drawn; most: of them.
    """
    are = open_cells(map).numpy().astype(np.uint8)
    payload = pack({"rows": pieces(map.rows), "columns": pieces(map.columns)}, are)
    return envelope(payload, theme, cells=[list(each) for each in cells], most=most)


def cell_drawing(data: bytes, key: str, on_cells: Callable[[Any], None]) -> None:
    """Draw it. on_cells: called with row and column of each cell that is drawn."""
    _drawing(data, key, on_cells=on_cells)
