"""record(): one forced pass of a model, observed and written down as a Recording.

The observer changes nothing: hooks that stand before each DotProductAttention keep what it was
called with. They are installed once per model and find the observer of their thread through a
ContextVar, so any number of threads may record one shared model at once.
"""

import fnmatch
import math
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn

from transformer.checkpoint import Checkpoint
from transformer.inputs import source_ids, target_ids
from transformer.recording import Attention, AttentionCall, PositionalEncoding, Recording
from transformer.tokenizer import Token

_KEPT = ("embedding", "positions")
"""Modules whose outputs a recording keeps."""


class _Observer:
    """What one pass left behind, written down while the pass runs."""

    def __init__(self) -> None:
        self.calls: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
        """kind -> the arguments of one call a layer, in the order in which the layers run."""
        self.outputs: dict[str, list[Tensor]] = defaultdict(list)


_OBSERVER: ContextVar[_Observer | None] = ContextVar("observer", default=None)
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
    _hook(checkpoint.model, checkpoint.family.attentions)
    observer = _Observer()
    token = _OBSERVER.set(observer)
    try:
        with torch.inference_mode():
            logits = checkpoint.model(
                torch.tensor([sources], device=checkpoint.device),
                torch.tensor([inputs], device=checkpoint.device),
            )
    finally:
        _OBSERVER.reset(token)
    return _write_down(checkpoint, observer, sources, targets, logits[0])


def _call(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, is_causal: bool) -> AttentionCall:
    """The call's arguments without the batch axis, which has one row."""
    return AttentionCall(
        q=q.squeeze(0),
        k=k.squeeze(0),
        v=v.squeeze(0),
        mask=None if mask is None else mask.squeeze(0),
        scale=1 / math.sqrt(q.size(-1)),
        is_causal=is_causal,
    )


def _hook(model: nn.Module, attentions: Mapping[str, str]) -> None:
    """Install the hooks, once for the life of the model; a deep copy has them already."""
    with _HOOKING:
        if "is_hooked" in vars(model):
            return
        for path, module in model.named_modules():
            if path in _KEPT:
                module.register_forward_hook(_keep(path))
            for kind, pattern in attentions.items():
                if fnmatch.fnmatchcase(path, pattern):
                    module.register_forward_pre_hook(_keep_call(kind))
        vars(model)["is_hooked"] = True


def _keep_call(kind: str) -> Any:
    def keep(module: nn.Module, inputs: Any) -> None:
        observer = _OBSERVER.get()
        if observer is not None:
            observer.calls[kind].append(inputs)  # made sense of after the pass

    return keep


def _keep(path: str) -> Any:
    def keep(module: nn.Module, inputs: Any, output: Tensor) -> None:
        observer = _OBSERVER.get()
        if observer is not None:
            observer.outputs[path].append(output)

    return keep


def _write_down(
    checkpoint: Checkpoint,
    observer: _Observer,
    sources: list[int],
    targets: list[int],
    logits: Tensor,
) -> Recording:
    token = checkpoint.tokenizer.token
    source, produced = tuple(map(token, sources)), tuple(map(token, targets))
    read = (token(checkpoint.config.bos_id), *produced[:-1])
    rows = {"encoder_self": source, "decoder_self": read, "cross": read}
    columns = {"encoder_self": source, "decoder_self": read, "cross": source}
    attentions = {
        kind: Attention(
            kind=kind,
            queries=rows[kind],
            keys=columns[kind],
            calls=tuple(_call(*arguments) for arguments in observer.calls[kind]),
            produced=None if kind == "encoder_self" else produced,
        )
        for kind in checkpoint.family.attentions
    }
    table = checkpoint.model.get_buffer("positions.table").float().cpu()
    positions = {
        side: PositionalEncoding(tokens, embedded[0].float().cpu(), encoded.float().cpu(), table)
        for side, tokens, embedded, encoded in zip(
            ("source", "target"),
            (source, read),
            observer.outputs["embedding"],
            observer.outputs["positions"],
            strict=True,
        )
    }
    return Recording(
        source, produced, MappingProxyType(attentions), MappingProxyType(positions), logits
    )
