"""The heads of another model where they stand: given the states that reach those of this one.

Only of models of ours: their projections are known modules, whose inputs hooks keep for the length
of one pass, in the thread that runs it.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from transformer.checkpoint import Checkpoint
from transformer.recording import AttentionCall, Recording
from transformer.recording.ours import record
from transformer.token import Token

PROJECTIONS = "query", "key", "value"


def record_with_heads_of(
    other: Checkpoint, checkpoint: Checkpoint, source: str, target: Sequence[Token] | None
) -> tuple[Recording, dict[str, list[AttentionCall]] | None]:
    """Record a model, and say what the other one's heads would do with the same states.

    The second value has a call per layer by kind: q, k, v and W_O of the other model's head of the
    same place. None where the two have other sizes, or are not models of ours. Raises Refusal.
    """
    places = _places(checkpoint, other)
    if places is None:
        return record(checkpoint, source, target), None
    states: dict[tuple[str, int, str], Tensor] = {}
    with ExitStack() as stack:
        for (kind, layer), (module, _) in places.items():
            for name in PROJECTIONS:
                part = module.get_submodule(name)
                stack.enter_context(_keeping(part, states, (kind, layer, name)))
        recording = record(checkpoint, source, target)
    heads: dict[str, list[AttentionCall]] = {kind: [] for kind in recording.attentions}
    with torch.inference_mode():
        for (kind, layer), (_, module) in places.items():
            call = recording.attentions[kind].calls[layer]
            inputs = {name: states[kind, layer, name] for name in PROJECTIONS}
            heads[kind].append(_call(call, module, inputs))
    return recording, heads


def _places(
    checkpoint: Checkpoint, other: Checkpoint
) -> dict[tuple[str, int], tuple[nn.Module, Any]] | None:
    """(kind, layer) -> the attention of both models; None where they do not pair off."""
    if checkpoint.family.name != other.family.name or checkpoint.family.is_watched:
        return None
    places: dict[tuple[str, int], tuple[nn.Module, Any]] = {}
    for kind, pattern in checkpoint.family.attentions.items():
        names = _modules(checkpoint, pattern or "")
        if names != _modules(other, pattern or ""):
            return None
        for layer, name in enumerate(names):
            pair = checkpoint.model.get_submodule(name), other.model.get_submodule(name)
            if _sizes(pair[0]) != _sizes(pair[1]):
                return None
            places[kind, layer] = pair
    return places


def _modules(checkpoint: Checkpoint, pattern: str) -> list[str]:
    """The names of a kind's attentions, layer by layer."""
    there, names = dict(checkpoint.model.named_modules()), list[str]()
    while (name := pattern.replace("*", str(len(names))).removesuffix(".dot_product")) in there:
        names.append(name)
        if "*" not in pattern:
            break
    return names


def _sizes(module: Any) -> tuple[int, list[tuple[int, ...]]]:
    return module.n_heads, [tuple(each.shape) for each in module.parameters()]


@contextmanager
def _keeping(
    module: nn.Module, states: dict[tuple[str, int, str], Tensor], key: tuple[str, int, str]
) -> Iterator[None]:
    """Keep what a module is called with, by this thread: others may run the model as well."""
    thread = threading.get_ident()

    def keep(module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        if threading.get_ident() == thread:
            states[key] = inputs[0]

    handle = module.register_forward_pre_hook(keep)
    try:
        yield
    finally:
        handle.remove()


def _call(call: AttentionCall, module: Any, states: dict[str, Tensor]) -> AttentionCall:
    """The same call with another module's projections. states: [1, T, D] each."""
    device = next(module.parameters(), call.q).device
    q, k, v = (
        module.split(module.get_submodule(name)(states[name].to(device)))[0].to(call.q.device)
        for name in PROJECTIONS
    )
    output = module.output
    projection = output.weight if isinstance(output, nn.Linear) else None
    scale = module.dot_product.scale
    return replace(call, q=q, k=k, v=v, scale=scale, projection=projection, sample=None)
