"""Several calls that are the heads of one layer, as one call."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate

import torch
from torch import Tensor

from transformer.recording import AttentionCall, Sample, WeightsCall
from transformer.watch.calls.seen import Seen


def wider(calls: Sequence[Seen]) -> Seen | None:
    """One call of the same heads with the values of all; None where their weights differ."""
    made = [call.make() for call in calls]
    if len({_maps(call) for call in made}) > 1:
        return None
    values = torch.cat([call.v for call in made], dim=-1)
    call = replace(made[0], v=values)
    return replace(calls[0], make=lambda: call, parts=tuple(calls))


def _maps(call: AttentionCall) -> tuple[int, ...]:
    """Locate the numbers that its weights are made of."""
    made_of = (call.given,) if isinstance(call, WeightsCall) else (call.q, call.k)
    return tuple(tensor.data_ptr() for tensor in made_of)


def side_by_side(calls: Sequence[Seen]) -> Seen | None:
    """One call of all their heads, in the order of calling; None where sizes differ."""
    if len({call.sizes for call in calls}) > 1:
        return None
    first = calls[0]
    n_heads, n_queries, n_keys = first.sizes
    matrices = [call.projection for call in calls]
    matrices_there = [matrix for matrix in matrices if matrix is not None]
    return replace(
        first,
        sizes=(n_heads * len(calls), n_queries, n_keys),
        make=partial(_made, [call.make for call in calls]),
        is_causal=all(call.is_causal for call in calls),
        projection=torch.cat(matrices_there, dim=1) if len(matrices_there) == len(calls) else None,
        sample=_summed([call.sample for call in calls])
        if len(matrices_there) == len(calls)
        else None,
        parts=tuple(calls),
    )


def _summed(samples: Sequence[Sample | None]) -> Sample | None:
    """Sum what heads gave, each after a W_O of its own."""
    there = [each for each in samples if each is not None]
    if len(there) < len(samples):
        return None
    biases = [each.bias for each in there if each.bias is not None]
    values = torch.stack([each.values for each in there]).sum(0)
    return Sample(there[0].queries, values, torch.stack(biases).sum(0) if biases else None)


def _made(makers: Iterable[Callable[[], AttentionCall]]) -> AttentionCall:
    calls = [make() for make in makers]
    first = calls[0]
    if any(isinstance(call, WeightsCall) or call.scale != first.scale for call in calls):
        return WeightsCall(
            q=_along_heads(call.q[..., :0] for call in calls),
            k=_along_heads(call.k[..., :0] for call in calls),
            v=_along_heads(call.v for call in calls),
            mask=_masks([call.allowed() for call in calls]),
            scale=1.0,
            is_causal=False,
            has_output=False,
            given=_along_heads(call.weights() for call in calls),
            replaced=_replaced(calls),
        )
    return replace(
        first,
        q=_along_heads(call.q for call in calls),
        k=_along_heads(call.k for call in calls),
        v=_along_heads(call.v for call in calls),
        mask=_masks([call.allowed() for call in calls]),
        bias=_together(calls, [call.bias for call in calls]),
        low=_together(calls, [call.low for call in calls]),
        is_causal=False,
        added=_together(calls, [call.added for call in calls]),
        replaced=_replaced(calls),
    )


def _along_heads(tensors: Iterable[Tensor]) -> Tensor:
    return torch.cat(list(tensors))


def _masks(allowed: list[Tensor]) -> Tensor | None:
    """bool [H, Q, K] each -> [1 or H, Q, K]; None where every cell is open."""
    together = torch.cat(allowed)
    if bool(together.all()):
        return None
    return together[:1] if bool((together == together[:1]).all()) else together


def _together(calls: Sequence[AttentionCall], added: Sequence[Tensor | None]) -> Tensor | None:
    """Join what is added to the scores of each call, [H, Q, K] of all heads; 0 where nothing is."""
    if all(each is None for each in added):
        return None
    shape = (*calls[0].q.shape[:2], calls[0].k.size(1))
    zeros = calls[0].q.new_zeros(shape)
    return torch.cat([zeros if each is None else each.expand(shape) for each in added])


def _replaced(calls: Sequence[AttentionCall]) -> dict[int, Tensor]:
    """Head, counted over all calls -> its output, where edits made that."""
    firsts = accumulate([0, *(call.n_heads for call in calls)])
    pairs = zip(firsts, calls, strict=False)
    return {first + head: z for first, call in pairs for head, z in call.replaced.items()}
