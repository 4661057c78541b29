"""One head as a heat map."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from viz.painters.shades import levels_of, palette_of
from viz.paper.sheet import (
    MIDDLE,
    NORMAL,
    SMALL,
    Box,
    Cells,
    Data,
    Drawing,
    Line,
    Mark,
    Place,
    Sheet,
    Words,
    fitted,
    hatched,
    law_of_map,
    minus_marks,
    moved,
    scale_bar,
    width_of,
)

LARGEST_CELL = 16.0
"""Points of a side: a map of a few words is not blown up."""
MOST_CELLS = 160
"""Cells along a side; of a longer map each cell is the largest of several, as on the screen."""


def draw(data: Data, width: float) -> Sheet:
    """The map with its words, its scale, and what is marked on the screen."""
    header, colours = data.header, data.colours
    values, block = pooled(data.arrays[0], header["lens"]["scale"] == "signed")
    block = [a * b for a, b in zip(block, header["block"], strict=True)]
    rows, columns = header["rows"], header["columns"]
    n_rows, n_columns = values.shape
    room = 0.3 * width
    left = SMALL + 4 + min(room, max((width_of(text) for text, _ in rows), default=0)) + 3
    side = min(LARGEST_CELL, (width - left - 1) / n_columns)
    cell = (side, min(side, 620 / n_rows))
    wide, high = cell[0] * n_columns, cell[1] * n_rows
    labels = min(0.9 * room, max((width_of(text) for text, _ in columns), default=0))
    top, right = labels + 4, left + wide
    marks: list[Mark] = [_map(data, values, (left, top, wide, high))]
    if header["lens"]["scale"] == "signed":
        marks += minus_marks(values, (left, top, *cell), colours, bounds(data)[1])
    marks += hatched(np.isnan(values), (left, top, *cell), colours["dim"])
    marks += words_beside(rows, block[0], (left - 3, top), cell[1], room, colours, False)
    marks += words_beside(columns, block[1], (left, top - 3), cell[0], labels, colours, True)
    marks.append(Box(left, top, wide, high, None, colours["grid"], 0.5))
    row, column = (place / b for place, b in zip(header.get("second", (0, 0)), block, strict=True))
    if row:
        y = top + row * cell[1]
        marks.append(Line((((left - 3, y), (right, y)),), colours["dim"], 0.5))
    if column:
        x = left + column * cell[0]
        marks.append(Line((((x, top - 3), (x, top + high)),), colours["dim"], 0.5))
    marks += _chosen(data, block, (left, top), cell)
    query, key = header["titles"]
    marks.append(
        Words(SMALL, top + high / 2, query, SMALL, colours["dim"], "middle", is_upward=True)
    )
    middle = max(left + wide / 2, left + width_of(key, SMALL) / 2)
    marks.append(Words(middle, top + high + SMALL + 4, key, SMALL, colours["dim"], "middle"))
    bar, height = scale_bar(data, min(width - left, max(90.0, right - left)), bounds(data))
    marks += moved(bar, left, top + high + SMALL + 11)
    return Sheet(width, top + high + SMALL + 11 + height, colours["background"], tuple(marks))


def bounds(data: Data) -> tuple[float, float]:
    """The two ends of the scale: the map's, or this head's own where the screen shows it so."""
    low, high = data.header["bounds"]
    strongest = data.header["strongest"]
    if not data.state["own_scale"] or strongest is None:
        return low, high
    largest = abs(strongest["value"]) or 1.0
    return (-largest if low < 0 else 0.0), largest


def pooled(
    values: NDArray[np.float32], is_signed: bool, most: int = MOST_CELLS
) -> tuple[NDArray[np.float32], list[int]]:
    """At most so many cells a side, each the largest of its block, and the block's size."""
    block = [max(1, -(-n // most)) for n in values.shape]
    if block == [1, 1]:
        return values, block
    size = [-(-n // b) for n, b in zip(values.shape, block, strict=True)]
    padded = np.full([n * b for n, b in zip(size, block, strict=True)], np.nan, np.float32)
    padded[: values.shape[0], : values.shape[1]] = values
    blocks = padded.reshape(size[0], block[0], size[1], block[1]).swapaxes(1, 2)
    flat = blocks.reshape(*size, -1)
    sizes = np.where(np.isnan(flat), -np.inf, np.abs(flat) if is_signed else flat)
    best = sizes.argmax(-1)[..., None]
    return np.take_along_axis(flat, best, -1)[..., 0], block


def _map(data: Data, values: NDArray[np.float32], place: Place) -> Cells:
    header, signed = data.header, data.header["lens"]["scale"] == "signed"
    scale = data.state["difference"] if signed else data.colours["scale"]
    facts = {
        "kind": header["kind"],
        "layer": header["layer"],
        "head": header["head"],
        "rows": values.shape[0],
        "columns": values.shape[1],
        header["lens"]["name"]: values,
    }
    levels = levels_of(values, bounds(data), data.is_rooted(header["lens"]))
    return Cells(*place, levels, palette_of(scale, data.colours["masked"]), facts)


def words_beside(
    tokens: list[Any],
    block: int,
    start: tuple[float, float],
    step: float,
    room: float,
    colours: dict[str, Any],
    is_upward: bool,
) -> list[Mark]:
    """A word beside each row or column; of a long text, as many as there is room for."""
    each = step / block
    size = min(NORMAL, max(SMALL, 0.85 * step))
    every = max(1, round(1.15 * size / each + 0.49)) if each < 1.1 * size else 1
    marks: list[Mark] = []
    for i in range(0, len(tokens), every):
        text, special = tokens[i]
        colour = colours["dim"] if special else colours["text"]
        middle = (i + 0.5) * each + MIDDLE * size
        x, y = (start[0] + middle, start[1]) if is_upward else (start[0], start[1] + middle)
        anchor: Any = "start" if is_upward else "end"
        words = fitted(text, room, size)
        marks.append(Words(x, y, words, size, colour, anchor, is_upward=is_upward))
    return marks


def _chosen(
    data: Data, block: list[int], start: tuple[float, float], cell: tuple[float, float]
) -> list[Mark]:
    """The path of the largest values, and the cell that is outlined."""
    (left, top), state = start, data.state
    down, across = cell[1] / block[0], cell[0] / block[1]
    marks: list[Mark] = []
    if state["path"]:
        largest = data.arrays[1]
        points = tuple(
            (left + (int(column) + 0.5) * across, top + (row + 0.5) * down)
            for row, column in enumerate(largest)
            if column >= 0
        )
        if len(points) > 1:
            marks.append(Line((points,), data.colours["background"], 2.0, 0.8))
            marks.append(Line((points,), data.colours["accent"], 0.9))
    if state["cell"]:
        row, column = state["cell"]
        box = (left + column * across, top + row * down, max(across, 2.0), max(down, 2.0))
        marks.append(Box(*box, None, data.colours["accent"], 1.2))
    return marks


DRAWING = Drawing("head_map", draw, 3.3, law_of_map)
