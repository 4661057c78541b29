"""Every head of a map as a small picture, with its strongest cell and its metrics."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from transformer.analysis.blocks import block_of_sides, farthest, maxima
from transformer.analysis.metrics.measure import computed, metrics_of
from transformer.analysis.metrics.metric import Metric
from transformer.analysis.parts import parts
from transformer.analysis.reading import AttentionMap
from transformer.analysis.strongest import largest_size, rows_with_choice, strongest_cells

MAX_PIXELS = 64
"""Pixels of a thumbnail's side: longer sentences are pooled."""
MASKED, FULL = 255, 254
"""The byte of a masked cell, and of the top of the scale."""
MIDDLE = FULL // 2
"""The byte of 0 on a scale with two sides."""


@dataclass(frozen=True, eq=False)
class Pictures:
    """All heads of a map."""

    thumbnails: NDArray[np.uint8]
    """[L, H, R', C'], at most 64 a side; MASKED where every cell of a pixel is."""
    strongest: NDArray[np.int32]
    """[L, H, 2]: row and column of the largest value; of the farthest from 0 on two sides."""
    value: NDArray[np.float32]
    """[L, H]: what stands there; NaN in a map without cells, or with masked ones only."""
    metrics: NDArray[np.float32]
    """[M, L, H], of the weights."""
    bound: float
    """The top of the scale, as `AttentionMap.bounds` has it."""
    block: tuple[int, int]
    """The cells that a pixel covers, of each axis."""


def pictures(map: AttentionMap, metrics: Mapping[str, Metric]) -> Pictures:
    """Thumbnails, strongest cells and metrics, each weight computed once."""
    shape = (map.n_layers, map.n_heads)
    n = map.n_layers * map.n_heads
    block = block_of_sides(len(map.rows), len(map.columns), MAX_PIXELS)
    size = -(-len(map.rows) // block[0]), -(-len(map.columns) // block[1])
    signed = map.lens.scale == "signed"
    # Made first: small tensors made between large ones would keep the memory of these in pieces.
    levels, masked = torch.empty(n, *size), None
    cells, peaks = torch.empty(n, 2, dtype=torch.int32), torch.empty(n)
    numbers = torch.empty(len(metrics), n)
    first, mask, closed, rows = 0, None, None, None
    for part in parts(map, bool(metrics)):
        some = slice(first, first + len(part.values))
        # Masked cells are 0 and so never win over a finding.
        levels[some] = (farthest if signed else maxima)(part.values, block)
        if part.allowed is not mask:  # most heads share one
            mask = part.allowed
            closed = None if mask is None else ~maxima(mask, block)
            rows = None if mask is None else rows_with_choice(mask)
        if closed is not None:
            masked = torch.zeros(levels.shape, dtype=torch.bool) if masked is None else masked
            masked[some] = closed
        cells[some], peaks[some] = _strongest(part.values, rows, signed)
        if mask is not None:
            peaks[some].masked_fill_(~mask.flatten(1).any(1), torch.nan)
        if metrics:
            numbers[:, some] = computed(metrics, part.weights)
        first = some.stop
        del part  # before the next is made
    bound = 1.0 if map.lens.scale == "share" else largest_size(levels) or 1.0
    is_number = ~levels.isnan()
    levels = _shaded(levels, bound, signed).where(is_number, MASKED)
    if masked is not None:
        levels.masked_fill_(masked, MASKED)
    return Pictures(
        levels.to(torch.uint8).view(*shape, *size).numpy(),
        cells.view(*shape, 2).numpy(),
        peaks.view(shape).numpy(),
        numbers.view(-1, *shape).numpy() if metrics else np.zeros((0, *shape), np.float32),
        bound,
        block,
    )


def metrics_of_map(map: AttentionMap) -> dict[str, Metric]:
    """The metrics that apply; none where a map shows a whole layer, for they describe a head."""
    return metrics_of(map.attention) if map.lens.per_head else {}


def _shaded(levels: Tensor, bound: float, signed: bool) -> Tensor:
    """Values -> 0 to FULL: their square root, or evenly to both sides of the middle."""
    if signed:
        return (levels / bound * MIDDLE + MIDDLE).round_()
    return (levels / bound).clamp_(0, 1).sqrt_().mul_(FULL).round_()


def _strongest(values: Tensor, rows: Tensor | None, signed: bool) -> tuple[Tensor, Tensor]:
    """Each head's strongest cell [N, 2] as (row, column), and its value [N]; values: [N, R, C]."""
    n_heads = len(values)
    if not values[0].numel():
        return torch.zeros(n_heads, 2, dtype=torch.long), torch.full((n_heads,), torch.nan)
    cells = strongest_cells(values.abs() if signed else values, rows)
    return cells, values[torch.arange(n_heads), cells[:, 0], cells[:, 1]]
