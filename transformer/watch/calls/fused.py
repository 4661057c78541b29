"""Attention that torch computes in one call, and masks of all sorts."""

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer.recording import AttentionCall, Sample, sampled
from transformer.watch.calls.seen import one_of_batch
from transformer.watch.capture.sources import READS, Reading, Sources

# Masks of all sorts: which cells they close, and what else they add to the scores.
#
# -inf and False close a cell. A finite number stays what it is, something that is added: a cell
# that it covers is closed only where the softmax gave exactly 0.

FAR = 80.0
"""exp(-80) is 2e-35: scores that lie so far below others are a mask's, if none are in between."""
_USUAL = -5000.0
"""Most finite masks go below (-10,000, -1e9), whatever biases are added beside them."""
_GONE = 110.0
"""exp(-110) is 0 in float32."""


@dataclass(frozen=True, eq=False)
class Split:
    """A mask's parts, each [1 or H, 1 or Q, K]; None where there is nothing of it."""

    open: Tensor | None = None
    """bool, False where it is -inf or False."""
    bias: Tensor | None = None
    """The addend of scores beside masking."""
    low: Tensor | None = None
    """The addend of the cells that it covers with finite numbers; 0 elsewhere."""

    @cached_property
    def uncovered(self) -> Tensor | None:
        """bool: the cells that it neither closes nor covers."""
        if self.low is None:
            return self.open
        return self.low == 0 if self.open is None else (self.low == 0) & self.open


OPEN = Split()


def split(mask: Tensor) -> Split:
    """The parts of a mask: True is open in one of bools; another is added to the scores."""
    if mask.dtype == torch.bool:
        return OPEN if bool(mask.all()) else Split(mask)
    mask = mask.detach()
    least = float(mask.amin()) if mask.numel() else 0.0
    if not least <= -FAR:
        return Split(bias=mask) if bool(mask.any()) else OPEN
    closed, covered = mask == -torch.inf, _covered(mask)
    rest = mask.masked_fill(closed | covered, 0.0)
    return Split(
        open=~closed if least == -torch.inf else None,
        bias=rest if bool(rest.any()) else None,
        low=mask.masked_fill(~covered, 0.0) if bool(covered.any()) else None,
    )


def _covered(mask: Tensor) -> Tensor:
    """Find the finite numbers that are a mask's: far below, and nothing in between."""
    finite = mask > -torch.inf
    covered = finite & (mask <= _USUAL)
    rest = finite & ~covered
    weak = rest & (mask <= -FAR)
    if bool(weak.any()):
        others = mask[rest & ~weak]
        if others.numel() and float(others.amin() - mask[weak].amax()) > FAR / 2:
            return covered | weak
    return covered


def masked(call: AttentionCall, low: Tensor | None) -> AttentionCall:
    """A call with what a finite mask adds.

    Where no score can outweigh that, and each row has another key, the cells are simply closed.
    """
    if low is None:
        return call
    covered = low < 0
    is_left = (call.allowed() & ~covered).any(-1)
    if bool(is_left.all()) and float(low[covered].amax()) < -2 * _reach(call) - _GONE:
        return replace(call, mask=~covered if call.mask is None else call.mask & ~covered)
    return replace(call, low=low)


def _reach(call: AttentionCall) -> float:
    """No score is further from 0."""
    of_product = float(call.q.float().norm(dim=-1).amax() * call.k.float().norm(dim=-1).amax())
    of_bias = 0.0 if call.bias is None else float(call.bias.abs().amax())
    return of_product * abs(call.scale) + of_bias


def covered_by_scores(scores: Tensor) -> Tensor | None:
    """Find the cells that a mask has closed or covered, by scores [..., Q, K] alone; None: no cell.

    They hold -inf, or a number that was put there: far below others, and one for several cells. Low
    scores alone tell nothing.
    """
    scores = scores.detach()
    if not float(scores.amin()) <= -FAR / 2:  # nothing is that low
        return None
    covered = scores == -torch.inf
    rest = (scores <= scores.amax(-1, keepdim=True) - FAR) & ~covered
    for _ in range(_FILLS):
        if not bool(rest.any()):
            break
        number = scores.masked_fill(~rest, torch.inf).amin()
        filled = scores == number
        if not _is_fill(float(number), int(filled.sum())):
            break
        covered, rest = covered | filled, rest & ~filled
    return covered if bool(covered.any()) else None


_FILLS = 3
"""Numbers that masks put into scores: one for causality and one for padding in most code."""


def _is_fill(number: float, n_cells: int) -> bool:
    """Tell whether a mask has put a number there.

    Products of activations are hardly ever equal, but for a pair of cells where queries are keys.
    """
    is_round = number.is_integer() and (number > _ROUND or number < -1e9)
    return is_round or n_cells > 2


_ROUND = -(2.0**22)
"""From here on float32 has few numbers that are not whole."""


# Attention that torch computes in one call: its arguments, as a recording keeps them.

_SIGNATURE = inspect.signature(F.multi_head_attention_forward)

Splits = dict[int, tuple[Tensor, Split]]
"""id of a mask -> itself, so that the id stays its own; and its parts: layers share them."""


def fused_call(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    split: Split,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> AttentionCall:
    """Keep what `scaled_dot_product_attention` was called with; its mask as `parts` gives it."""
    q, k, v = (one_of_batch(tensor).detach() for tensor in (query, key, value))
    call = AttentionCall(
        q=q,
        k=k,
        v=v,
        mask=split.open,
        bias=split.bias,
        scale=1 / math.sqrt(q.size(-1)) if scale is None else scale,
        is_causal=is_causal,
        has_output=False,
        is_random=bool(dropout_p),
    )
    return masked(call, split.low)


def unpacked(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, sources: Sources
) -> tuple[Tensor, Tensor, Tensor, Tensor | None] | None:
    """Give each head of one token its query again, with its keys, values and mask; None: it has it.

    query [1, n_keys_heads, G, d]: Transformers packs the G heads that share keys as queries where
    there is a mask, to spare itself copies of the keys.
    """
    n_shared = query.size(-2)
    if query.dim() != 4 or not 1 == query.size(0) < n_shared:
        return None
    if not _is_packed(query, key, value, mask, sources):
        return None
    keys, values = (each[:, :, None].expand(-1, -1, n_shared, -1, -1) for each in (key, value))
    if mask is not None and mask.dim() > 2 and mask.size(-2) == n_shared:
        mask = mask.expand(*query.shape[:-1], mask.size(-1)).flatten(1, 2)[:, :, None]
    return query[..., None, :], keys, values, mask


def _is_packed(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, sources: Sources
) -> bool:
    """Tell it by what a matrix gave for the queries: one row, and otherwise one for each query."""
    n, size = query.size(-2), query.numel()
    there = [each for each in sources.latest(READS) if each.result.numel() >= size]
    alone = [each for each in there if each.result.numel() == size]  # not with keys and values
    rows = set(map(_n_rows, alone or there))
    if not alone or rows != {1, n}:
        return rows == {1}
    # As many keys as heads share one: a row each of them, too.
    if made := sources.of_queries(query, key, value):
        return _n_rows(made) == 1
    return key.size(-2) != n or (mask is not None and mask.size(-2) == 1)


def _n_rows(reading: Reading) -> int:
    return reading.result.numel() // reading.result.size(-1)


def parts(
    mask: Tensor | None, n_keys: int, splits: Splits, lasting: Callable[[Tensor], Tensor]
) -> Split:
    """`split`, once for a mask that several calls are given; of a copy where lasting makes one."""
    if mask is None:
        return OPEN
    if id(mask) not in splits:
        spread = mask.expand(*mask.shape[:-1], n_keys)
        while spread.dim() > 3:  # one sequence: the axis of the batch has one entry
            spread = spread[0]
        while spread.dim() < 3:
            spread = spread[None]
        splits[id(mask)] = mask, split(lasting(spread))
    return splits[id(mask)][1]


def multi_head_call(
    is_kept: bool,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    **others: Any,
) -> tuple[Callable[[], AttentionCall], Split, tuple[int, int, int]]:
    """Keep what `multi_head_attention_forward` read: how to project it, its mask, H, Q, K.

    query [Q, B, D] or [Q, D], key and value alike; the heads of a batch are those of all texts, one
    text after the other. is_kept: they are projected at once: by the time
    that somebody asks, the matrices may have been trained on, and the input be another pass's.
    """
    extra = int(bias_k is not None) + int(add_zero_attn)
    n_keys = key.size(0) + extra
    n_texts = query.size(1) if query.dim() == 3 else 1
    if key_padding_mask is not None:  # [B, K] or [K]: a row for each head
        key_padding_mask = key_padding_mask.reshape(n_texts, -1)
        rows = num_heads if n_texts > 1 else 1
        key_padding_mask = key_padding_mask.repeat_interleave(rows, 0)
    mask = _merged(attn_mask, key_padding_mask, key.size(0), extra)
    weights: Any = (q_proj_weight, k_proj_weight, v_proj_weight)
    if not use_separate_proj_weight and in_proj_weight is not None:
        weights = in_proj_weight.chunk(3)
    biases: Any = (None,) * 3 if in_proj_bias is None else in_proj_bias.chunk(3)

    @cache
    def projected() -> list[Tensor]:
        with torch.no_grad():
            q, k, v = (
                F.linear(x.reshape(x.size(0), n_texts, -1), weight, bias)  # [T, B, D]
                for x, weight, bias in zip((query, key, value), weights, biases, strict=True)
            )
            k, v = _with_extras(k, bias_k, add_zero_attn), _with_extras(v, bias_v, add_zero_attn)
        heads = (x.unflatten(-1, (num_heads, -1)) for x in (q, k, v))  # [T, B, H, d]
        return [x.permute(1, 2, 0, 3).flatten(0, 1) for x in heads]

    if is_kept:
        projected()

    def make() -> AttentionCall:
        q, k, v = projected()
        call = AttentionCall(
            q=q,
            k=k,
            v=v,
            mask=mask.open,
            bias=mask.bias,
            scale=1 / math.sqrt(q.size(-1)),
            is_causal=False,
            projection=out_proj_weight,
            is_safe=not need_weights,  # only then it calls the fused attention
            is_random=bool(training and dropout_p),
        )
        return masked(call, mask.low)

    return make, mask, (n_texts * num_heads, query.size(0), n_keys)


def added_keys(*args: Any, **kwargs: Any) -> tuple[str, ...]:
    """Name the keys that `multi_head_attention_forward` adds after those of the sequence."""
    arguments = _SIGNATURE.bind(*args, **kwargs).arguments
    is_added = {"bias key": arguments["bias_k"] is not None, "zero key": arguments["add_zero_attn"]}
    return tuple(name for name, is_there in is_added.items() if is_there)


def multi_head_reads(*args: Any, **kwargs: Any) -> list[Reading]:
    """List what `multi_head_attention_forward` reads for queries, keys and values."""
    arguments = _SIGNATURE.bind(*args, **kwargs).arguments
    tensors = [arguments[name] for name in ("query", "key", "value")]
    whole, bias = arguments["in_proj_weight"], arguments["in_proj_bias"]
    if arguments.get("use_separate_proj_weight") or whole is None:
        matrices = [arguments[f"{name}_proj_weight"] for name in "qkv"]
        biases = (None,) * 3 if bias is None else bias.chunk(3)
        parts = zip(tensors, matrices, biases, strict=True)
        return [Reading(each, each, matrix, part) for each, matrix, part in parts]
    different = {id(each): each for each in tensors}
    return [Reading(each, each, whole, bias) for each in different.values()]


def is_random(*args: Any, **kwargs: Any) -> bool:
    """Tell whether `multi_head_attention_forward` drops weights at random."""
    arguments = _SIGNATURE.bind(*args, **kwargs).arguments
    return bool(arguments.get("training", True) and arguments["dropout_p"])


def multi_head_sample(result: Tensor, *args: Any, **kwargs: Any) -> Sample | None:
    """A few rows of what `multi_head_attention_forward` gave [Q, 1, D] or [Q, D]; None: random, or
    of a batch.
    """
    arguments = _SIGNATURE.bind(*args, **kwargs).arguments
    if is_random(*args, **kwargs) or (result.dim() == 3 and result.size(1) > 1):
        return None
    rows = result.reshape(-1, result.size(-1))  # [Q, D]
    queries = sampled(len(rows))
    return Sample(queries, rows[queries.to(result.device)], arguments["out_proj_bias"])


def _with_extras(x: Tensor, bias: Tensor | None, add_zero: bool) -> Tensor:
    """The keys [T, B, D] that the module itself adds after those of the sequence."""
    if bias is not None:
        x = torch.cat([x, bias.view(1, 1, -1).expand(1, x.size(1), -1)])
    return F.pad(x, (0, 0, 0, 0, 0, 1)) if add_zero else x


def _merged(attn_mask: Tensor | None, padding: Tensor | None, n_keys: int, extra: int) -> Split:
    """Both masks of nn.MultiheadAttention, whose True means closed, as one."""
    total: Tensor | None = None
    for mask in (attn_mask, None if padding is None else padding.reshape(-1, 1, n_keys)):
        if mask is not None:
            if mask.dtype == torch.bool:
                mask = torch.zeros(mask.shape, device=mask.device).masked_fill(mask, -torch.inf)
            total = mask if total is None else total + mask
    if total is None:
        return OPEN
    spread = total if total.dim() == 3 else total[None]
    return split(F.pad(spread, (0, extra)))


# torch's flex attention: a function of the model's own makes its scores, before the softmax.
#
# It is an operator that is made of Python. Inside, that function is mapped over the cells by
# `vmap`, after which nothing tells what became of the product: so weights are computed once more,
# by what torch itself calls where nothing is compiled.

FLEX: Any = torch.ops.higher_order.flex_attention


def flex_weights(
    q: Tensor, k: Tensor, v: Tensor, score_mod: Any, block_mask: Any, *options: Any
) -> tuple[Tensor, Tensor, Tensor]:
    """Scores and weights [B, H, Q, K] and values [B, H, K, d_value] of one call of it."""
    from torch._higher_order_ops.flex_attention import _math_attention_inner

    per_key = q.size(1) // k.size(1)  # query heads for one of the keys
    k, v = (each.repeat_interleave(per_key, 1) for each in (k, v))
    _, scores = _math_attention_inner(q, k, v, score_mod, block_mask, *options)
    weights = scores.softmax(-1).masked_fill((scores == -torch.inf).all(-1, keepdim=True), 0)
    return scores, weights.to(q.dtype), v
