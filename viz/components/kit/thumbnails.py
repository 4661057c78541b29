"""Every head of a map as a small picture, with its strongest cell and its metrics.

Layers are taken together while they are small and head by head once they are large: at 48 tokens
the time goes into calls, at 2,048 into memory.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from transformer.analysis.metrics.measure import computed, metrics_of
from transformer.analysis.metrics.metric import Metric
from transformer.analysis.reading import AttentionMap, Reading
from transformer.recording import AttentionCall

MAX_PIXELS = 64
"""Of a thumbnail's side: longer sentences are pooled."""
MASKED, FULL = 255, 254
"""The byte of a masked cell, and of the top of the scale."""
MIDDLE = FULL // 2
"""The byte of 0 on a scale with two sides."""
_BATCH = 2**20
"""Cells that are worked on at once: 4 MiB stay near the processor."""


@dataclass(frozen=True, eq=False)
class Pictures:
    """All heads of a map."""

    thumbnails: NDArray[np.uint8]
    """[L, H, R', C'], at most 64 a side; MASKED where every cell of a pixel is."""
    strongest: NDArray[np.int32]
    """[L, H, 2]: row and column of the largest value; of the farthest from 0 on two sides."""
    value: NDArray[np.float32]
    """[L, H]: what stands there; NaN in a map without cells."""
    metrics: NDArray[np.float32]
    """[M, L, H], of the weights."""
    bound: float
    """The top of the scale, as `AttentionMap.bounds` has it."""
    block: tuple[int, int]
    """How many cells of each axis a pixel covers."""


@dataclass(frozen=True, eq=False)
class _Part:
    """Some heads."""

    values: Tensor
    """[N, R, C]"""
    weights: Tensor
    """[N, Q, K]"""
    allowed: Tensor | None
    """[1 or N, R, C]; None: all cells."""


def pictures(map: AttentionMap, metrics: Mapping[str, Metric]) -> Pictures:
    """Thumbnails, strongest cells and metrics, each weight computed once."""
    shape = (map.n_layers, map.n_heads)
    n = map.n_layers * map.n_heads
    block = _block(len(map.rows)), _block(len(map.columns))
    size = -(-len(map.rows) // block[0]), -(-len(map.columns) // block[1])
    signed = map.lens.scale == "signed"
    # Made first: small tensors made between large ones would keep the memory of these in pieces.
    levels, masked = torch.empty(n, *size), None
    cells, peaks = torch.empty(n, 2, dtype=torch.int32), torch.empty(n)
    numbers = torch.empty(len(metrics), n)
    first, mask, closed, free = 0, None, None, None
    for part in _parts(map, bool(metrics)):
        some = slice(first, first + len(part.values))
        levels[some] = _pooled(part.values, block, signed)
        if part.allowed is not mask:  # most heads share one
            mask = part.allowed
            closed = None if mask is None else ~_pool(mask, block)
            free = None if mask is None else _free(mask)
        if closed is not None:
            masked = torch.zeros(levels.shape, dtype=torch.bool) if masked is None else masked
            masked[some] = closed
        cells[some], peaks[some] = _strongest(part.values, free, signed)
        if metrics:
            numbers[:, some] = computed(metrics, part.weights)
        first = some.stop
        del part  # before the next is made
    bound = 1.0 if map.lens.scale == "share" else _largest(levels)
    levels = _shaded(levels, bound, signed)
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


def _parts(map: AttentionMap, with_weights: bool) -> Iterator[_Part]:
    """All heads, layer by layer, in parts of about _BATCH cells."""
    for run in _runs(map.attention.calls):
        allowed = _allowed(map, run[0])
        cells = max(1, len(map.rows) * len(map.columns))
        n_layers = max(1, _BATCH // (cells * map.n_heads))
        n_heads = max(1, _BATCH // cells)
        for first in range(0, len(run), n_layers):
            yield from _split(map, run[first : first + n_layers], n_heads, allowed, with_weights)


def _runs(calls: Sequence[AttentionCall]) -> list[list[int]]:
    """Layers, in order; those that follow each other and mask alike stand together."""
    runs = [[0]]
    for layer in range(1, len(calls)):
        if _mask_alike(calls[layer - 1], calls[layer]):
            runs[-1].append(layer)
        else:
            runs.append([layer])
    return runs


def _mask_alike(a: AttentionCall, b: AttentionCall) -> bool:
    if a.is_causal != b.is_causal:
        return False
    if a.mask is None or b.mask is None:
        return a.mask is b.mask
    return a.mask is b.mask or torch.equal(a.mask, b.mask)


def _allowed(map: AttentionMap, layer: int) -> Tensor | None:
    """[1 or H, R, C]: one slice where all heads mask alike; None where nothing is masked."""
    call = map.attention.calls[layer]
    if call.mask is None and not call.is_causal:
        return None
    alike = call.mask is None or call.mask.size(0) == 1
    if alike and _shows_weights(map):
        return call.only(0).allowed().cpu()
    return map.allowed(layer)[:1] if alike else map.allowed(layer)


def _split(
    map: AttentionMap, layers: list[int], n: int, allowed: Tensor | None, with_weights: bool
) -> Iterator[_Part]:
    """Parts of at most n heads where there is one layer; several layers are small enough for one.

    A lens gives all heads of a layer at once; the weights are computed for these n alone.
    """
    calls = [map.attention.calls[layer] for layer in layers]
    per_head = allowed is not None and len(allowed) > 1
    if allowed is not None and per_head:
        allowed = allowed.repeat(len(layers), 1, 1)
    shown = None if _shows_weights(map) else _joined([map.values(layer) for layer in layers])
    step = n if len(layers) == 1 else map.n_heads
    for first in range(0, map.n_heads, step):
        some = slice(first, first + step)
        of_step = some if len(layers) == 1 else slice(None)
        values = None if shown is None else shown[of_step]
        if values is None or with_weights:
            weights = _weights([call.heads(some) for call in calls])
            values = weights if values is None else values
        else:
            weights = values
        masks = allowed[of_step] if allowed is not None and per_head else allowed
        yield _Part(values, weights, masks)


def _weights(calls: list[AttentionCall]) -> Tensor:
    """[L * H, Q, K] of layers that mask alike; as one product where they differ in nothing else."""
    first = calls[0]
    if len(calls) > 1 and all(_is_like(first, call) for call in calls):
        q, k, v = (torch.cat([getattr(call, name) for call in calls]) for name in "qkv")
        return replace(first, q=q, k=k, v=v, projection=None).weights().cpu()
    return _joined([call.weights().cpu() for call in calls])


def _is_like(first: AttentionCall, call: AttentionCall) -> bool:
    """Whether the heads of both could be those of one layer."""
    shared = call.mask is None or call.mask.size(0) == 1
    plain = type(call) is AttentionCall and call.bias is None and shared
    alike = call.scale == first.scale and call.v.shape == first.v.shape
    return plain and alike and call.q.shape == first.q.shape and call.k.shape == first.k.shape


def _shows_weights(map: AttentionMap) -> bool:
    """Whether the values of a map are the weights as they are: then they are computed once."""
    return map.lens.name == "weight" and map.reading in (Reading(), Reading(rows="read"))


def _joined(parts: list[Tensor]) -> Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def _block(n_cells: int) -> int:
    """How many cells one pixel covers."""
    return max(1, -(-n_cells // MAX_PIXELS))


def _pooled(values: Tensor, block: tuple[int, int], signed: bool) -> Tensor:
    """[N, R, C] -> [N, R', C']: the largest value under each pixel.

    On two sides the one farthest from 0. Masked cells are 0 and so never win over a finding.
    """
    high = _pool(values, block)
    if not signed:
        return high
    low = -_pool(-values, block)
    return torch.where(-low > high, low, high)


def _pool(values: Tensor, block: tuple[int, int]) -> Tensor:
    """Maxima of blocks; the last of a row or column of blocks may be smaller."""
    for axis, size in ((1, block[0]), (2, block[1])):
        n = values.size(axis)
        if size == 1:
            continue
        whole = n - n % size
        maxima = values.narrow(axis, 0, whole).unflatten(axis, (-1, size)).amax(axis + 1)
        if whole < n:
            rest = values.narrow(axis, whole, n - whole).amax(axis, keepdim=True)
            maxima = torch.cat([maxima, rest], axis)
        values = maxima
    return values


def _shaded(levels: Tensor, bound: float, signed: bool) -> Tensor:
    """Values -> 0 to FULL: their square root, or evenly to both sides of the middle."""
    if signed:
        return (levels / bound * MIDDLE + MIDDLE).round_()
    return (levels / bound).clamp_(0, 1).sqrt_().mul_(FULL).round_()


def _largest(levels: Tensor) -> float:
    return (float(levels.abs().max()) if levels.numel() else 0.0) or 1.0


def _free(allowed: Tensor) -> Tensor:
    """Rows among which the strongest cell is looked for: [N, R, C] -> [N, R].

    Rows that may attend to one key only are left out: their 1.0 is no finding. Where every row is
    such a row, all count.
    """
    free = allowed.sum(-1) > 1
    return free | ~free.any(1, keepdim=True)


def _strongest(values: Tensor, free: Tensor | None, signed: bool) -> tuple[Tensor, Tensor]:
    """Each head's strongest cell [N, 2] as (row, column), and its value [N].

    values: [N, R, C]. free: as `_free` gives it; None: all rows.
    """
    n_heads = len(values)
    if not values[0].numel():
        return torch.zeros(n_heads, 2, dtype=torch.long), torch.full((n_heads,), torch.nan)
    sizes = values.abs() if signed else values
    peaks = sizes.amax(-1)  # [N, R]
    if free is not None:
        peaks = torch.where(free, peaks, -1.0)
    heads, row = torch.arange(n_heads), peaks.argmax(-1)
    column = sizes[heads, row].argmax(-1)
    return torch.stack([row, column], -1), values[heads, row, column]
