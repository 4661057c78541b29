"""Bytes that the grid of all heads sends to the browser."""

from tests.bench.attention import HEADS, LAYERS, random_map
from tests.bench.bench import Bench, Row
from viz.components.head_grid.head_grid import pack_head_grid
from viz.components.kit.browser import envelope
from viz.theme import LIGHT

LENGTHS = (30, 128, 256)
GOAL_BYTES = {30: 200_000}


def run(is_quick: bool) -> list[Row]:
    rows = []
    for n_tokens in LENGTHS[:1] if is_quick else LENGTHS:
        n_bytes = len(envelope(pack_head_grid(random_map(n_tokens)), LIGHT, selected=None))
        full = LAYERS * HEADS * n_tokens**2 * 4
        goal = GOAL_BYTES[n_tokens] / full if n_tokens in GOAL_BYTES else None
        name = f"grid, 144 heads, {n_tokens} tokens: {n_bytes / 1e6:.2f} MB"
        rows.append(Row(name, n_bytes / full, "every weight as float32", goal))
    return rows


BENCH = Bench("payload", run)
