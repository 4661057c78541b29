"""What the components show of a request, packed once and shared by all sessions."""

from functools import lru_cache

from transformer.analysis.cell import inside
from transformer.analysis.reading import AttentionMap, Reading, read
from viz.components.cell_steps.cell_steps import pack_cell
from viz.components.decode_player.decode_player import pack_decoding
from viz.components.head_grid.head_grid import pack_head_grid
from viz.components.head_map.head_map import Region, pack_head_map
from viz.components.head_view.head_view import pack_head_view
from viz.ui.request import Request, answer
from viz.views.view import Selection


@lru_cache(maxsize=64)
def attention_map(request: Request, kind: str, reading: Reading) -> AttentionMap:
    """One kind of attention, as it is read. Raises ValueError where the lens refuses."""
    return read(answer(request).recording, kind, reading)


@lru_cache(maxsize=128)
def grid_payload(request: Request, kind: str, reading: Reading) -> bytes:
    """The grid of all heads of a kind."""
    return pack_head_grid(attention_map(request, kind, reading), _n_prompt(request))


@lru_cache(maxsize=128)
def arrows_payload(request: Request, kind: str, layer: int, reading: Reading) -> bytes:
    """All heads of a layer, as lines between tokens."""
    return pack_head_view(attention_map(request, kind, reading), layer, _n_prompt(request))


@lru_cache(maxsize=128)
def map_payload(
    request: Request, selection: Selection, reading: Reading, region: Region | None
) -> bytes:
    """One head as a heat map; of a long text, a region of it with exact values."""
    map = attention_map(request, selection.kind, reading)
    return pack_head_map(map, selection.layer, selection.head, region, _n_prompt(request))


@lru_cache(maxsize=128)
def cell_payload(request: Request, selection: Selection, query: int, key: int, rows: str) -> bytes:
    """One cell of a head from inside. rows: as a Reading names them."""
    map = attention_map(
        request, selection.kind, Reading(rows="read" if rows == "read" else "produced")
    )
    cell = inside(map.recording, selection.kind, selection.layer, selection.head, query, key)
    return pack_cell(cell, map.rows[query], map.columns[key], map.columns, map.is_produced)


@lru_cache(maxsize=128)
def player_payload(request: Request, layer: int, head: int | None) -> bytes:
    """What the decode player needs for one head, or for the mean of a layer's heads."""
    answered = answer(request)
    assert answered.decoding is not None
    return pack_decoding(answered.decoding, answered.recording, layer, head)


def _n_prompt(request: Request) -> int:
    """Of a generator, how many tokens of its text were given; else 0."""
    answered = answer(request)
    return len(answered.recording.source) if answered.checkpoint.family.continues else 0
