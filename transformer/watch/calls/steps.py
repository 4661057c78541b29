"""Several calls that are the queries of one attention, one after the other, as one call.

A recurrent decoder asks for its next query when it has what the one before gave, as in PyTorch's
tutorial on translation with attention.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from transformer.recording import AttentionCall, Sample, WeightsCall
from transformer.watch.calls.seen import Seen
from transformer.watch.capture.sources import UNKNOWN


def joined_steps(seen: list[Seen], lengths: Collection[int]) -> list[Seen]:
    """The calls of a pass; those of one module, one query each of the same keys, as one call.

    lengths: of what the model was given. Layers or hops that share their matrices look the same:
    steps are as many as something is long, and nothing else attends in a recurrent model.
    """
    if len(seen) not in lengths:
        return seen
    alike = {(each.place.path, each.sizes, each.is_softmax) for each in seen}
    _, n_queries, n_keys = seen[0].sizes if seen else (0, 0, 0)
    if len(seen) < 2 or len(alike) > 1 or n_queries != 1 or n_keys < 2 or not _read_alike(seen):
        return seen
    matrices = {None if it.projection is None else it.projection.data_ptr() for it in seen}
    first = seen[0]
    n_heads = first.sizes[0]
    return [
        replace(
            first,
            sizes=(n_heads, len(seen), n_keys),
            place=replace(first.place, lengths=frozenset()),  # of a step
            says_another=True,  # what all steps read was there before them
            source=UNKNOWN,
            make=partial(_made, [each.make for each in seen]),
            sample=_sample([each.sample for each in seen]) if len(matrices) == 1 else None,
            projection=first.projection if len(matrices) == 1 else None,
            is_random=any(each.is_random for each in seen),
        )
    ]


def _read_alike(seen: Sequence[Seen]) -> bool:
    values = [each.make().v for each in seen]
    return bool(values[0].numel()) and all(torch.equal(values[0], each) for each in values)


def _made(makers: Sequence[Callable[[], AttentionCall]]) -> WeightsCall:
    calls = [make() for make in makers]
    first = calls[0]
    weights = torch.cat([call.weights() for call in calls], 1)
    is_open = torch.cat([call.allowed().expand(len(weights), 1, -1) for call in calls], 1)
    return WeightsCall(
        q=first.q.new_empty(len(weights), len(calls), 0),
        k=first.k[..., :0],
        v=first.v,
        mask=None if bool(is_open.all()) else is_open,
        scale=1.0,
        is_causal=False,
        has_output=first.has_output,
        projection=first.projection,
        given=weights,
    )


def _sample(samples: Sequence[Sample | None]) -> Sample | None:
    """One sample of all of them, each of one query; None where one was not seen."""
    there = [each for each in samples if each is not None]
    if len(there) < len(samples):
        return None
    values: list[Tensor] = [each.values for each in there]
    return Sample(torch.arange(len(there)), torch.cat(values, -2), there[0].bias)
