"""All heads of a map in parts that fit beside the processor, each weight computed once.

Layers are taken together while they are small and head by head once they are large: at 48 tokens
the time goes into calls, at 2,048 into memory.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from transformer.analysis.reading import AttentionMap
from transformer.recording import AttentionCall

_BATCH = 2**20
"""Cells that are worked on at once: 4 MiB stay near the processor."""


@dataclass(frozen=True, eq=False)
class Part:
    """Some heads, in the order of layers and heads."""

    values: Tensor
    """[N, R, C]"""
    weights: Tensor
    """[N, Q, K]; the values, where nobody asked for the weights."""
    allowed: Tensor | None
    """[1 or N, R, C]; None: all cells."""


def parts(map: AttentionMap, with_weights: bool) -> Iterator[Part]:
    """All heads, layer by layer, in parts of about _BATCH cells.

    Parts that mask alike carry the same tensor `allowed`.
    """
    for run in _runs(map.attention.calls):
        allowed = _allowed(map, run[0])
        cells = max(1, len(map.rows) * len(map.columns))
        n_layers = max(1, _BATCH // (cells * map.n_heads))
        n_heads = max(1, _BATCH // cells)
        for first in range(0, len(run), n_layers):
            layers = run[first : first + n_layers]
            if len(layers) == 1:
                yield from _of_layer(map, layers[0], n_heads, allowed, with_weights)
            else:
                yield _of_layers(map, layers, allowed, with_weights)


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
    if alike and map.is_plain:
        return call.only(0).allowed().cpu()
    return map.allowed(layer)[:1] if alike else map.allowed(layer)


def _of_layer(
    map: AttentionMap, layer: int, n: int, allowed: Tensor | None, with_weights: bool
) -> Iterator[Part]:
    """One layer, n heads at a time. A lens gives all heads at once; weights are made for n."""
    call = map.attention.calls[layer]
    values = None if map.is_plain else map.values(layer)
    for first in range(0, map.n_heads, n):
        some = slice(first, first + n)
        masks = allowed if allowed is None or len(allowed) == 1 else allowed[some]
        yield _part(
            None if values is None else values[some], [call.heads(some)], masks, with_weights
        )


def _of_layers(
    map: AttentionMap, layers: list[int], allowed: Tensor | None, with_weights: bool
) -> Part:
    """Several small layers at once."""
    if allowed is not None and len(allowed) > 1:
        allowed = allowed.repeat(len(layers), 1, 1)
    values = None if map.is_plain else _joined([map.values(layer) for layer in layers])
    calls = [map.attention.calls[layer] for layer in layers]
    return _part(values, calls, allowed, with_weights)


def _part(
    values: Tensor | None, calls: list[AttentionCall], allowed: Tensor | None, with_weights: bool
) -> Part:
    """values: the lens's values; None: the weights are."""
    if values is not None and not with_weights:
        return Part(values, values, allowed)
    weights = _weights(calls)
    return Part(weights if values is None else values, weights, allowed)


def _weights(calls: list[AttentionCall]) -> Tensor:
    """[L * H, Q, K] of layers that mask alike; as one product where they differ in nothing else."""
    first = calls[0]
    if len(calls) > 1 and all(_is_like(first, call) for call in calls):
        q, k, v = (torch.cat([getattr(call, name) for call in calls]) for name in "qkv")
        return replace(first, q=q, k=k, v=v, projection=None).weights().cpu()
    return _joined([call.weights().cpu() for call in calls])


def _is_like(first: AttentionCall, call: AttentionCall) -> bool:
    """Tell whether the heads of both could be those of one layer."""
    shared = call.mask is None or call.mask.size(0) == 1
    is_plain = call.bias is None and call.added is None and first.added is None
    plain = type(call) is AttentionCall and is_plain and shared
    alike = call.scale == first.scale and call.v.shape == first.v.shape
    return plain and alike and call.q.shape == first.q.shape and call.k.shape == first.k.shape


def _joined(parts: list[Tensor]) -> Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(parts)
