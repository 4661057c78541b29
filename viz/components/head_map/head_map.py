"""One head large: every value of its map, for any length, with cells that can be chosen."""

from dataclasses import astuple, dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from transformer.analysis.reading import (
    PLAIN,
    AttentionMap,
    Reading,
    Selection,
    block_within,
    largest_size,
    lenses,
    located,
)
from transformer.decoding import Decoding
from transformer.recording import Recording
from viz.components.kit.browser import Component, envelope, pack
from viz.components.kit.picture import Twin, known_map, map_header, second, shown_map, strongest
from viz.components.kit.sync import mountable
from viz.labels import kind_name
from viz.map_words import capitalised, describe_map, hidden_texts, hides, map_name
from viz.theme import Theme

Region = tuple[int, int, int, int]
"""First row, row after the last, first column, column after the last."""

MAX_CELLS = 512
"""A map of at most 512 x 512 cells is sent whole; of a larger one an overview of that size."""
MAX_REGION = 256
"""Rows and columns, at most, of the exact values that are sent beside an overview."""

HEAD_MAP = Component("head_map")
head_map = mountable(HEAD_MAP)
"""on_cell: row and column that were chosen; on_region: one whose exact values are asked for;
on_turn: 1 for the next head, -1 for the one before.
"""


@dataclass(frozen=True)
class HeadMap:
    """One head large."""

    selection: Selection
    reading: Reading = PLAIN
    region: Region | None = None
    """The part of a map that is too large that is sent with exact values."""
    max_cells: int = MAX_CELLS
    """A map of up to max_cells x max_cells is sent whole."""
    component: ClassVar[Component] = HEAD_MAP

    def title(self, recording: Recording) -> str:
        name, lens = self.selection.name(recording), lenses()[self.reading.lens]
        if lens.of_output:
            name = "the whole model"
        elif not lens.per_head:
            name = name.partition(" ")[0]
        return f"{capitalised(kind_name(self.selection.kind))}, {name}"

    def maps(self, recording: Recording) -> dict[str, AttentionMap]:
        kind, layer, head = astuple(self.selection)
        return {kind: shown_map(recording, kind, self.reading, layer, head)}

    def payload(self, recording: Recording, decoding: Decoding | None = None) -> bytes:
        (map,) = self.maps(recording).values()
        _, layer, head = astuple(self.selection)
        return pack_head_map(map, layer, head, self.region, self.max_cells)

    def data(
        self,
        payload: bytes,
        theme: Theme,
        *,
        cell: tuple[int, int] | None = None,
        pins: tuple[str, ...] = (),
        path: bool = False,
        own_scale: bool = False,
        asks: bool = False,
        is_off: bool = False,
        twin: Twin = None,
    ) -> bytes:
        """cell: the (row, column) that is outlined; pins: rows ("q5") and columns that are marked.

        path: whether a line joins each row's largest. own_scale: whether the darkest
        shade is this head's largest value. asks: whether someone answers when the browser asks for
        exact values. is_off: whether the head was off when the model read the sentence.
        twin: how its tokens stand for those of the picture beside it.
        """
        chosen = {"cell": None if cell is None else list(cell), "pins": list(pins)}
        state = {**chosen, "path": path, "own_scale": own_scale, "asks": asks, "is_off": is_off}
        beside = {} if twin is None else {"twin": twin}
        return envelope(payload, theme, difference=theme.difference_scale, **state, **beside)

    def says(self, recording: Recording, decoding: Decoding | None = None, **state: Any) -> str:
        kind, layer, head = astuple(self.selection)
        text = describe_map(known_map(recording, kind, self.reading, layer, head), layer, head)
        text += " The line joins the largest of each query." * bool(state.get("path"))
        return text + " The scale ends at the head's own largest." * bool(state.get("own_scale"))


def pack_head_map(
    map: AttentionMap,
    layer: int,
    head: int,
    region: Region | None = None,
    max_cells: int = MAX_CELLS,
) -> bytes:
    """One head's map [R, C], as exact as its size allows.

    max_cells: a map of up to max_cells x max_cells is sent whole.
    Arrays: values f4 [R', C'], NaN where masked; largest i4 [R], the column of each row's largest
    value, -1 where all are masked. Of a larger map a value is the largest of a block of cells, or
    the one farthest from 0 where the scale is signed (masked only where all are), R' and C' are at
    most 512, and two arrays more follow: which cell of its block it is, u2 [R', C'], and the exact
    values f4 of the region, which is cut to the map and to 256 x 256.
    """
    one = map.only(head)
    values, allowed = one.values(layer)[0], one.allowed(layer)[0]
    block = block_within(len(map.rows), len(map.columns), max_cells, MAX_CELLS)
    arrays: list[NDArray[Any]] = [_masked(values, allowed), _largest(values, allowed)]
    inside = None
    if block != (1, 1):
        signed = map.lens.scale == "signed"
        pooled, places = located(values[None], allowed[None], block, signed=signed)
        inside = _inside(region, *values.shape)
        part = np.s_[inside[0] : inside[1], inside[2] : inside[3]]
        of_block = places[0].numpy().astype(np.uint16)
        exact = np.ascontiguousarray(arrays[0][part])
        arrays = [pooled[0].numpy(), arrays[1], of_block, exact]
    more: dict[str, Any] = {"block": block, "region": inside, "masked": not bool(allowed.all())}
    more |= {"bounds": _bounds(map, values), "strongest": strongest(values, allowed)}
    return pack(_header(map, layer, head) | more, *arrays)


def _bounds(map: AttentionMap, values: Tensor) -> tuple[float, float]:
    """The map's own; but of scores this head's, which say nothing beside those of another."""
    if map.lens.scale != "signed":
        return map.bounds
    bound = largest_size(values) or 1.0
    return -bound, bound


def _header(map: AttentionMap, layer: int, head: int) -> dict[str, Any]:
    """Describe the map to the browser, in words."""
    return map_header(map) | {
        "id": f"{map.kind} L{layer} H{head}",
        "layer": map.attention.number(layer),
        "head": head,
        "name": map_name(map, layer, head),
        "says": describe_map(map, layer, head),
        "notes": (*map.notes, *hidden_texts(map.only(head), layer)),
        **({"hides": True} if hides(map) else {}),
        **second(map),
    }


def _inside(region: Region | None, n_rows: int, n_columns: int) -> Region:
    """The part of a region that can be sent; empty where there is none."""
    if region is None:
        return 0, 0, 0, 0
    top, bottom, left, right = region
    top, left = (min(max(0, first), n) for first, n in ((top, n_rows), (left, n_columns)))
    bottom = max(top, min(bottom, n_rows, top + MAX_REGION))
    right = max(left, min(right, n_columns, left + MAX_REGION))
    return top, bottom, left, right


def _masked(values: Tensor, allowed: Tensor) -> NDArray[np.float32]:
    """[R, C] with NaN for masked cells."""
    result: NDArray[np.float32] = values.masked_fill(~allowed, torch.nan).numpy()
    return result


def _largest(values: Tensor, allowed: Tensor) -> NDArray[np.int32]:
    """The column of each row's largest value [R]; -1 where the row is masked."""
    columns = values.masked_fill(~allowed, -torch.inf).argmax(-1)
    result: NDArray[np.int32] = columns.masked_fill(~allowed.any(-1), -1).int().numpy()
    return result
