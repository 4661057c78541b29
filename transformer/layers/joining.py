"""One state of decoding from several: rows that began at different times go on as one batch."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer.layers.blocks import KeysValues, LayerCache
from transformer.layers.stacks import DecoderState


def joined(states: Sequence[DecoderState], n_rows: Sequence[int]) -> DecoderState:
    """The rows of all of these, one state after the other. n_rows: of each of them.

    Each row's own keys and values end in the last column, so that its next token stands beside
    those of the others: shorter rows are padded at their beginning, and shorter memories at their
    end. It is as narrow as its rows allow, and has no mask where none is needed.
    """
    device = _device(states)
    positions = torch.cat([_positions(*each, device) for each in zip(states, n_rows, strict=True)])
    n_own = int(positions.max())
    n_memory = max(_n_memory(each) for each in states)
    caches = [
        LayerCache(
            cross=_cat([each.cross for each in layer], n_rows, n_memory, at_end=True),
            own=_cat([each.own for each in layer], n_rows, n_own, at_end=False),
        )
        for layer in zip(*(each.caches for each in states), strict=True)
    ]
    masks = [_mask(*each, n_memory, device) for each in zip(states, n_rows, strict=True)]
    mask = torch.cat(masks)
    return DecoderState(
        caches,
        memory_mask=None if bool(mask.all()) else mask,
        n_positions=n_own if bool((positions == n_own).all()) else positions,
    )


def _device(states: Sequence[DecoderState]) -> torch.device | None:
    """None where nothing was read yet."""
    pairs = (pair for each in states for pair in (each.caches[0].cross, each.caches[0].own))
    return next((pair[0].device for pair in pairs if pair is not None), None)


def _positions(state: DecoderState, n_rows: int, device: torch.device | None) -> Tensor:
    """[B]"""
    n = state.n_positions
    return n if isinstance(n, Tensor) else torch.full((n_rows,), n, device=device)


def _n_memory(state: DecoderState) -> int:
    """Return the number of places of the longest memory of its rows; 0 without any."""
    cross = state.caches[0].cross
    if cross is None:
        return 0
    return cross[0].size(2) if state.memory_mask is None else int(state.memory_mask.sum(-1).max())


def _mask(state: DecoderState, n_rows: int, width: int, device: torch.device | None) -> Tensor:
    """bool [B, 1, 1, width], False at padding."""
    mask = state.memory_mask
    if mask is None:
        mask = torch.ones(n_rows, 1, 1, _n_memory(state), dtype=torch.bool, device=device)
    return F.pad(mask, (0, width - mask.size(-1)))


def _cat(
    pairs: Sequence[KeysValues | None], n_rows: Sequence[int], width: int, at_end: bool
) -> KeysValues | None:
    """All rows with so many places, padded or cut at their end, or else at their beginning."""
    first = next((pair for pair in pairs if pair is not None), None)
    if first is None:
        return None

    def side(i: int) -> Tensor:
        parts = []
        for pair, n in zip(pairs, n_rows, strict=True):
            part = first[i][:1, :, :0].expand(n, -1, -1, -1) if pair is None else pair[i]
            lacking = width - part.size(2)  # below 0: places that no row needs
            parts.append(F.pad(part, (0, 0, 0, lacking) if at_end else (0, 0, lacking, 0)))
        return torch.cat(parts)

    return side(0), side(1)
