"""Queries and keys of a first layer as sums, in a model that runs as its own code says.

From embeddings e and encodings p to a query nothing but linear maps and norms stands. With each
norm's deviation taken as it is in this run, a query is f(e + p) for an affine f; so runs with p
taken away, with e taken away and with both say what of it is content, position and bias. That f is
affine is not believed but checked: what p adds must be the same with and without e.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from transformer.checkpoint import Checkpoint
from transformer.editing.editor import Editor
from transformer.edits.edit import Edit
from transformer.edits.spelling import edit_kinds
from transformer.recording import AttentionCall, Recording
from transformer.recording.watched import edited_calls, plan_of
from transformer.watch.capture.operators import watching

MOST_ERROR = 1e-3
"""A share of the largest number: what positions add may differ so far with and without contents."""


@dataclass(frozen=True, eq=False)
class Parts:
    """A head's queries or keys [T, d_head] in double precision; their sum is what was recorded."""

    content: Tensor
    position: Tensor
    biases: Tensor


@dataclass(frozen=True, eq=False)
class WatchedParts:
    """Both sums, and whether a norm stands before, whose deviations are taken as in this run."""

    query: Parts
    key: Parts
    is_frozen: bool


def watched_parts(
    checkpoint: Checkpoint,
    recording: Recording,
    kind: str,
    head: int,
    side: str,
    edits: Sequence[Edit] = (),
) -> WatchedParts | None:
    """Split q and k of a kind's first layer, which reads this side; None where they are no sums.

    edits: those of the recording.
    """
    ids = [[token.id for token in each] for each in (recording.source, recording.target)]
    forced = checkpoint.family.forced_pass(checkpoint.config, ids[0], ids[1] or None)
    plan, model = plan_of(checkpoint, forced), checkpoint.model
    if side not in plan.sides or kind not in plan.sizes:
        return None
    moved = [each for each in edits if each.place == side and edit_kinds()[each.name].of == "side"]
    moved = [each for each in moved if edit_kinds()[each.name].words is None]  # they are read so

    def first(factor: float) -> AttentionCall:
        scaled = Edit("positions-scale", side, (), (factor,))
        calls = edited_calls(checkpoint, forced, plan, Editor([*moved, scaled]))
        first = [(spot, call) for spot, call in calls if (spot.kind, spot.layer) == (kind, 0)]
        spot, call = [each for each in first if each[0].first_head <= head][-1]
        return call.only(head - spot.first_head)

    with frozen_norms(model) as freeze:
        runs = [first(1.0)]
        freeze()
        runs.append(first(0.0))
        with without_embeddings(model):
            runs += [first(1.0), first(0.0)]
    query, key = (
        _parts(*(getattr(run, name)[0].double().cpu() for run in runs)) for name in ("q", "k")
    )
    if query is None or key is None:
        return None
    free = first(0.0)
    is_frozen = any(
        not torch.allclose(getattr(free, name), getattr(runs[1], name), rtol=1e-4, atol=1e-5)
        for name in ("q", "k")
    )
    return WatchedParts(query, key, is_frozen)


def _parts(whole: Tensor, content: Tensor, position: Tensor, nothing: Tensor) -> Parts | None:
    """Make parts of f(e + p), f(e), f(p) and f(0) [T, d]; None where f is not affine."""
    of_position = whole - content
    error = (of_position - (position - nothing)).abs().max()
    if not bool(error <= MOST_ERROR * whole.abs().max().clamp(min=1.0)):
        return None
    return Parts(content - nothing, of_position, nothing)


@contextmanager
def frozen_norms(model: nn.Module) -> Iterator[Callable[[], None]]:
    """While entered, layer norms keep how they divide in the first run of this thread.

    Yields what is to be called after it: from then on they divide as they did.
    """
    thread, norms, n_calls = threading.get_ident(), dict[tuple[int, int], Tensor](), Counter[int]()
    is_frozen = False

    def begin(module: nn.Module, inputs: Any) -> None:
        if threading.get_ident() == thread:
            n_calls.clear()

    def hook(norm: Any, inputs: Any, output: Tensor) -> Tensor | None:
        if threading.get_ident() != thread or not inputs:
            return None
        place = id(norm), n_calls[id(norm)]
        n_calls[id(norm)] += 1
        with watching(None):
            x, axes = inputs[0].float(), tuple(range(-len(norm.normalized_shape), 0))
            if not is_frozen:
                variance = x.var(axes, correction=0, keepdim=True)
                norms[place] = (variance + norm.eps).rsqrt()
                return None
            x = (x - x.mean(axes, keepdim=True)) * norms[place]
            x = x if norm.weight is None else x * norm.weight
            return (x if norm.bias is None else x + norm.bias).to(output.dtype)

    def freeze() -> None:
        nonlocal is_frozen
        is_frozen = True

    with ExitStack() as hooks:
        hooks.callback(model.register_forward_pre_hook(begin).remove)
        for norm in model.modules():
            if isinstance(norm, nn.LayerNorm):
                hooks.callback(norm.register_forward_hook(hook).remove)
        yield freeze


@contextmanager
def without_embeddings(model: nn.Module) -> Iterator[None]:
    """While entered, tables of embeddings give zeros to runs of this thread."""
    thread = threading.get_ident()

    def hook(table: nn.Module, inputs: Any, rows: Tensor) -> Tensor | None:
        if threading.get_ident() != thread:
            return None
        with watching(None):
            return torch.zeros_like(rows)

    with ExitStack() as hooks:
        for table in model.modules():
            if isinstance(table, nn.Embedding):
                hooks.callback(table.register_forward_hook(hook).remove)
        yield
