"""All layers and heads of one kind of attention at once, as small pictures."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from transformer.recording import Attention
from viz.components.browser import envelope, pieces, script, style
from viz.components.pack import pack
from viz.theme import Theme

MAX_PIXELS = 64
"""Of a thumbnail's side: longer sentences are pooled."""
MASKED, FULL = 255, 254
"""The byte of a masked cell, and of weight 1."""

_COMPONENT = st.components.v2.component(
    "head_grid",
    html='<div class="headscope head-grid"></div>',
    css=style("page", "head_grid"),
    js=script("unpack", "page", "shade", "head_grid"),
)


def head_grid(
    payload: bytes,
    selected: tuple[int, int],
    theme: Theme,
    key: str,
    on_open: Callable[[int, int], None] | None = None,
) -> tuple[int, int] | None:
    """Show what `pack_head_grid` packed; returns the (layer, head) just clicked, else None.

    The outline moves at once in the browser; `selected` must follow, or it moves back. on_open is
    called with the click before the script runs: the place to set the state of other widgets.
    """

    def opened() -> None:
        if on_open is not None and st.session_state[key].open:
            on_open(*st.session_state[key].open)

    result = _COMPONENT(
        key=key, data=envelope(payload, theme, selected=list(selected)), on_open_change=opened
    )
    return None if result.open is None else (int(result.open[0]), int(result.open[1]))


def pack_head_grid(attention: Attention, n_prompt: int = 0) -> bytes:
    """Thumbnails of every head, and where each head's attention is strongest.

    n_prompt: of a generator, the length of the source that its rows begin with.
    Arrays: thumbnails u1 [L, H, Q', K'] with Q', K' at most 64; strongest cell i4 [L, H, 2] (query,
    key) and its weight f4 [L, H].
    """
    pictures = [_pictures(attention, layer) for layer in range(attention.n_layers)]
    block = _block(len(attention.queries), len(attention.keys))
    thumbnails = np.stack([picture.thumbnails for picture in pictures])
    writes = attention.queries != attention.keys  # as the heatmap names its rows
    header = {
        "queries": pieces(attention.queries),
        "keys": pieces(attention.keys),
        "produced": pieces(attention.produced) if writes and attention.produced else None,
        "block": block,
        "masked": bool((thumbnails == MASKED).any()),
        **_sides(attention, n_prompt),
    }
    return pack(
        header,
        thumbnails,
        np.stack([picture.strongest for picture in pictures]),
        np.stack([picture.weight for picture in pictures]),
    )


@dataclass(frozen=True, eq=False)
class _Pictures:
    """One layer's heads."""

    thumbnails: NDArray[np.uint8]
    strongest: NDArray[np.int32]
    weight: NDArray[np.float32]


def _pictures(attention: Attention, layer: int) -> _Pictures:
    weights, allowed = attention.weights(layer), attention.allowed(layer)
    block = _block(*weights.shape[1:])
    strongest, weight = _strongest(weights, allowed)
    return _Pictures(_thumbnails(weights, allowed, block), strongest.numpy(), weight.numpy())


def _block(n_queries: int, n_keys: int) -> tuple[int, int]:
    """How many cells of each axis one pixel covers."""
    return -(-n_queries // MAX_PIXELS), -(-n_keys // MAX_PIXELS)


def _thumbnails(weights: Tensor, allowed: Tensor, block: tuple[int, int]) -> NDArray[np.uint8]:
    """[H, Q, K] -> bytes [H, Q', K']: 255 = masked, else round(254 * sqrt(weight)).

    A pixel holds the largest weight of its cells; it is masked only when all of them are.
    """
    levels = (weights.sqrt() * FULL).round().masked_fill(~allowed, -1.0)
    if block != (1, 1):
        # The last blocks may reach over the edge: what is not there counts as masked.
        down, across = (-n % size for n, size in zip(levels.shape[1:], block, strict=True))
        levels = F.max_pool2d(F.pad(levels, (0, across, 0, down), value=-1.0), block)
    result: NDArray[np.uint8] = (
        levels.masked_fill(levels < 0, MASKED).to(torch.uint8).contiguous().numpy()
    )
    return result


def _strongest(weights: Tensor, allowed: Tensor) -> tuple[Tensor, Tensor]:
    """Each head's strongest cell: int32 [H, 2] as (query, key), and its weight [H].

    Rows that may attend to one key only are left out: their 1.0 is no finding. Where every row is
    such a row, all count.
    """
    free = allowed.sum(-1, keepdim=True) > 1
    n_keys = weights.size(-1)
    if not bool(free.all()):
        weights = torch.where(free | ~free.any(1, keepdim=True), weights, -1.0)
    weight, cell = weights.flatten(1).max(-1)
    return torch.stack([cell // n_keys, cell % n_keys], -1).int(), weight


def _sides(attention: Attention, n_prompt: int) -> dict[str, Any]:
    """Where the tokens of each side are: side -> row or column of its token at position 0.

    A target token's row is the one that produced it; its column is one further, where it was read.
    """
    if attention.produced is None:
        return {"rows": {"source": 0}, "columns": {"source": 0}}
    if n_prompt:
        rows = {"source": -1, "target": n_prompt - 1}
        return {"rows": rows, "columns": {"source": 0, "target": n_prompt}}
    columns = {"source": 0} if attention.kind == "cross" else {"target": 1}
    return {"rows": {"target": 0}, "columns": columns}
