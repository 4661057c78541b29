"""One cell of one head, computed stage by stage, and all heads in parts that fit beside the
processor.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from transformer.analysis.reading import AttentionMap
from transformer.recording import AttentionCall, Recording
from transformer.recording.calls import NO_VALUES, ONLY_WEIGHTS, NotRecorded

# inside(): one cell of one head, computed stage by stage (AIAYN, section 3.2.1).
#
# The stages are those of attention itself: q · k, times scale, mask, softmax, times v, and what
# that is in the head's output. A head that scales q and k before their product (`fourth_root`) is
# recorded with both unscaled and the whole scale beside them, so its stages are the same.


@dataclass(frozen=True, eq=False)
class Cell:
    """The cell of one query and one key in one head. Tensors are float32 on the CPU."""

    kind: str
    layer: int
    head: int
    query: int
    """Positions of the query and the key."""
    key: int
    q: Tensor
    """[d_key]"""
    k: Tensor
    """[d_key]"""
    products: Tensor
    """q * k [d_key]"""
    running: Tensor
    """Sum of the products up to and with each dimension [d_key]; the last is q · k."""
    scale: float
    bias: float
    """The model's addition to this score for the places of both: a relative bias, ALiBi."""
    scores: Tensor
    """q · k * scale + bias for every key of this query, before the mask [K]."""
    allowed: Tensor
    """bool [K]: False where a mask forbids the key."""
    weights: Tensor
    """softmax of the allowed scores [K]; 0 where masked, and everywhere if all keys are."""
    value: Tensor
    """The key's v [d_value]."""
    part: Tensor
    """weight * value [d_value]"""
    output: Tensor
    """The head's output for this query: the parts of all keys added up [d_value]."""
    shares: Tensor
    """part · output / |output|² of every key [K]: how much of the output's length a part makes up.

    They add up to 1; one below 0 pulls the other way. All are 0 where the output is.
    """
    norms: tuple[float, float] | None
    """Lengths of part and output after W_O; None where the projection was not recorded."""

    @property
    def dot(self) -> float:
        """q · k"""
        return float(self.running[-1])

    @property
    def score(self) -> float:
        """q · k * scale + bias, whether masked or not."""
        return float(self.scores[self.key])

    @property
    def is_masked(self) -> bool:
        return not bool(self.allowed[self.key])

    @property
    def weight(self) -> float:
        return float(self.weights[self.key])

    @property
    def share(self) -> float:
        """This key's of the `shares`."""
        return float(self.shares[self.key])

    @property
    def n_allowed(self) -> int:
        """Count the keys that the softmax runs over."""
        return int(self.allowed.sum())

    @property
    def rank(self) -> int:
        """1 where no allowed key has a larger score."""
        return 1 + int((self.scores[self.allowed] > self.score).sum())


def inside(recording: Recording, kind: str, layer: int, head: int, query: int, key: int) -> Cell:
    """Every stage of one cell. Costs K * (d_key + d_value), whatever the number of queries.

    Raises KeyError for a kind and IndexError for a number that the recording does not have, and
    NotRecorded, in a sentence, where a model left nothing but its weights.
    """
    call = recording.attentions[kind].calls[layer]
    if not call.knows_scores or not call.v.size(-1):
        raise NotRecorded(NO_VALUES if call.knows_scores else ONLY_WEIGHTS)
    row = _row(call, head, query)
    q, k, v = row.q[0, 0].float().cpu(), row.k[0].float().cpu(), row.v[0].float().cpu()
    products = q * k[key]  # [d_key]
    weights = row.weights()[0, 0].cpu()  # [K]
    parts = weights[:, None] * v  # [K, d_value]
    output = parts.sum(0)  # [d_value]
    return Cell(
        kind=kind,
        layer=layer,
        head=head,
        query=query,
        key=key,
        q=q,
        k=k[key],
        products=products,
        running=products.cumsum(0),
        scale=call.scale,
        bias=0.0 if row.bias is None else float(row.bias[0, 0, key]),
        scores=row.scores()[0, 0].cpu(),
        allowed=row.allowed()[0, 0].cpu(),
        weights=weights,
        value=v[key],
        part=parts[key],
        output=output,
        shares=_shares(parts, output),
        norms=_norms(call, head, parts[key], output),
    )


def _row(call: AttentionCall, head: int, query: int) -> AttentionCall:
    """The same call for one head and one query: scores and weights have one formula, in one place.

    Causality becomes a mask, because the one row left no longer says where it stood.
    """
    one = call.only(head)
    n_queries, n_keys = one.q.size(1), one.k.size(1)
    allowed = torch.ones(n_keys, dtype=torch.bool, device=one.q.device)
    if one.is_causal:
        allowed = torch.arange(n_keys, device=one.q.device) <= query
    if one.mask is not None:
        allowed = allowed & one.mask.expand(1, n_queries, n_keys)[0, query]
    bias = None if one.bias is None else one.bias.expand(1, n_queries, n_keys)[:, query, None]
    return replace(
        one,
        q=one.q[:, query, None],  # [1, 1, d_key]
        mask=allowed[None, None],  # [1, 1, K]
        bias=bias,  # [1, 1, K]
        added=None if one.added is None else one.added[:, query, None],
        is_causal=False,
    )


def _shares(parts: Tensor, output: Tensor) -> Tensor:
    """The projection of each part on the output, in lengths of the output.

    parts: [K, d_value], output: [d_value] -> [K]
    """
    squared = output.double().square().sum()
    if squared == 0:
        return torch.zeros(len(parts))
    return (parts.double() @ output.double() / squared).float()


def _norms(
    call: AttentionCall, head: int, part: Tensor, output: Tensor
) -> tuple[float, float] | None:
    """Lengths after the head's slice of W_O [d_value, D]; its bias belongs to no key."""
    projection: Tensor | None = getattr(call, "output", None)  # [H, d_value, D]
    if projection is None:
        return None
    matrix = projection[head].float().cpu()
    return float((part @ matrix).norm()), float((output @ matrix).norm())


# All heads of a map in parts that fit beside the processor, each weight computed once.
#
# Layers are taken together while they are small and head by head once they are large: at 48
# tokens the time goes into calls, at 2,048 into memory.

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
