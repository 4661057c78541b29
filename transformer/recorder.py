"""record(): one forced pass of a model, observed and written down as a Recording.

The observer changes nothing. A TorchFunctionMode, which is per thread, sees each call of
scaled_dot_product_attention; forward hooks, installed once per model, tell which module made it
through a ContextVar. So any number of threads may record one shared model at once.
"""

import fnmatch
import math
import re
import threading
from collections import defaultdict
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any
from weakref import WeakSet

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from transformer.checkpoint import Checkpoint
from transformer.inputs import source_ids, target_ids
from transformer.recording import Attention, AttentionCall, PositionalEncoding, Recording
from transformer.tokenizer import Token


@dataclass
class _Notes:
    """What the hooks and the mode write down during one pass."""

    path: list[str] = field(default_factory=list)
    """Module paths, innermost last."""
    calls: dict[str, list[AttentionCall]] = field(default_factory=lambda: defaultdict(list))
    outputs: dict[str, list[Tensor]] = field(default_factory=lambda: defaultdict(list))


_NOTES: ContextVar[_Notes | None] = ContextVar("notes", default=None)
_HOOKED: WeakSet[nn.Module] = WeakSet()
_HOOKING = threading.Lock()


def record(
    checkpoint: Checkpoint, source: str, target: str | Sequence[Token] | None = None
) -> Recording:
    """Run the model once over source and target and keep what its attentions saw.

    target: text, or the tokens that a decoding gave. Raises InputError.
    """
    sources = source_ids(checkpoint, source)
    targets = target_ids(checkpoint, target)
    inputs = [checkpoint.config.bos_id, *targets[:-1]]
    notes = _Notes()
    _hook(checkpoint.model)
    token = _NOTES.set(notes)
    try:
        with torch.inference_mode(), _Watch(notes):
            logits = checkpoint.model(
                torch.tensor([sources], device=checkpoint.device),
                torch.tensor([inputs], device=checkpoint.device),
            )
    finally:
        _NOTES.reset(token)
    return _write_down(checkpoint, notes, sources, inputs, targets, logits[0])


class _Watch(TorchFunctionMode):
    """Sees each attention call on its way to torch."""

    def __init__(self, notes: _Notes) -> None:
        super().__init__()
        self.notes = notes

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func is F.scaled_dot_product_attention and self.notes.path:
            self.notes.calls[self.notes.path[-1]].append(_call(*args, **kwargs))
        return func(*args, **kwargs)


def _call(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    **_: Any,
) -> AttentionCall:
    """The call's arguments without the batch axis, which has one row."""
    return AttentionCall(
        q=query[0],
        k=key[0],
        v=value[0],
        mask=None if attn_mask is None else attn_mask[0],
        scale=1 / math.sqrt(query.size(-1)) if scale is None else scale,
        is_causal=is_causal,
    )


def _hook(model: nn.Module) -> None:
    """Install the hooks, once for the life of the model."""
    with _HOOKING:
        if model in _HOOKED:
            return
        for path, module in model.named_modules():
            module.register_forward_pre_hook(_enter(path))
            module.register_forward_hook(_leave)
        _HOOKED.add(model)


def _enter(path: str) -> Any:
    def enter(module: nn.Module, inputs: Any) -> None:
        notes = _NOTES.get()
        if notes is not None:
            notes.path.append(path)

    return enter


def _leave(module: nn.Module, inputs: Any, output: Any) -> None:
    notes = _NOTES.get()
    if notes is not None:
        path = notes.path.pop()
        if path in _KEPT:
            notes.outputs[path].append(output)


_KEPT = frozenset({"embedding", "positions"})
"""Modules whose outputs a recording keeps."""


def _write_down(
    checkpoint: Checkpoint,
    notes: _Notes,
    sources: list[int],
    inputs: list[int],
    targets: list[int],
    logits: Tensor,
) -> Recording:
    source, read, produced = (
        tuple(map(checkpoint.tokenizer.token, ids)) for ids in (sources, inputs, targets)
    )
    rows = {"encoder_self": source, "decoder_self": read, "cross": read}
    columns = {"encoder_self": source, "decoder_self": read, "cross": source}
    attentions = {
        kind: Attention(
            kind=kind,
            queries=rows[kind],
            keys=columns[kind],
            calls=_calls_of(notes, pattern),
            produced=None if kind == "encoder_self" else produced,
        )
        for kind, pattern in checkpoint.family.attentions.items()
    }
    table = checkpoint.model.get_submodule("positions").table
    positions = {
        side: PositionalEncoding(tokens, embedded[0].float().cpu(), encoded.float().cpu(), table)
        for side, tokens, embedded, encoded in zip(
            ("source", "target"),
            (source, read),
            notes.outputs["embedding"],
            notes.outputs["positions"],
            strict=True,
        )
    }
    return Recording(
        source, produced, MappingProxyType(attentions), MappingProxyType(positions), logits
    )


def _calls_of(notes: _Notes, pattern: str) -> tuple[AttentionCall, ...]:
    """One call a layer, in the order of the layers' numbers."""
    paths = [path for path in notes.calls if fnmatch.fnmatchcase(path, pattern)]
    paths.sort(key=lambda path: [int(digits) for digits in re.findall(r"\d+", path)])
    return tuple(notes.calls[path][-1] for path in paths)
