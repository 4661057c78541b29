"""record(): one forced pass of a model, observed and written down as a Recording.

The observer changes nothing: hooks that stand before each DotProductAttention keep what it was
called with. They are installed once per model and find the observer of their thread through a
ContextVar, so any number of threads may record one shared model at once.
"""

import fnmatch
import threading
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, cast

import torch
from torch import Tensor, nn

from transformer.checkpoint import Checkpoint
from transformer.device import device_trouble
from transformer.editing.editor import Editor
from transformer.editing.ours import Editing, check, editing
from transformer.editing.read_words import read_words
from transformer.editing.references import references
from transformer.edits.edit import Edit
from transformer.edits.spelling import edits_of
from transformer.finite import check_finite
from transformer.inputs import target_ids
from transformer.models.family import EMBEDDING, Family, ForcedPass, Ids
from transformer.recording import (
    Attention,
    AttentionCall,
    PositionalEncoding,
    Recording,
    Sample,
    sampled,
)
from transformer.recording.decisions import PooledClassification
from transformer.recording.watched import record_watched
from transformer.token import Token
from transformer.vocabulary import source_side


class _Observer:
    """An observer of one pass: it writes down while the pass runs."""

    def __init__(self) -> None:
        self.calls: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
        """kind -> module and arguments of one call a layer, in the order in which layers run."""
        self.given: dict[str, list[Tensor]] = defaultdict(list)
        """kind -> what each of them gave, at some queries."""
        self.inputs: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
        self.outputs: dict[str, list[Tensor]] = defaultdict(list)
        self.modules: dict[str, list[nn.Module]] = defaultdict(list)
        """Role -> whose they are, call by call."""
        self.edited: Editing | None = None


_OBSERVER: ContextVar[_Observer | None] = ContextVar("observer", default=None)
_HOOKING = threading.Lock()


def record(
    checkpoint: Checkpoint,
    source: str,
    target: str | Sequence[Token] | None = None,
    edits: Iterable[Edit | str] = (),
) -> Recording:
    """Run the model once over source and target and keep what its attentions saw.

    target: text, or the tokens that a decoding gave; None where a family writes nothing, or to
    record a prompt by itself. edits: what to change in the model for this run. Raises InputError,
    of an edit EditError, and DeviceError where the device fails or half precision does not hold the
    model's numbers.
    """
    sources, made = read_words(checkpoint, source, edits_of(edits))
    targets = target_ids(checkpoint, target, len(sources))
    forced = checkpoint.family.forced_pass(checkpoint.config, sources, targets)
    with device_trouble():
        if checkpoint.family.is_watched:
            editor = Editor(made, references(checkpoint, source, sources, made))
            recording = record_watched(checkpoint, forced, sources, targets or [], editor)
        else:
            observer, logits = _edited(checkpoint, source, sources, made, forced)
            recording = _write_down(checkpoint, observer, forced, sources, targets or [], logits)
        check_finite(checkpoint, forced.inputs, recording.logits)
    return recording


def _edited(
    checkpoint: Checkpoint,
    source: str,
    sources: Ids,
    edits: Sequence[Edit],
    forced: ForcedPass,
) -> tuple[_Observer, Tensor]:
    """`_observe` of a forced pass with edits. Raises EditError."""
    if not edits:
        return _observe(checkpoint, forced.inputs)
    check(checkpoint, edits, forced)
    tensors = references(checkpoint, source, sources, edits)
    edited = Editing(edits, tuple(forced.embedded), references=tensors)
    with editing(checkpoint.model, checkpoint.family, edited):
        observer, logits = _observe(checkpoint, forced.inputs)
    observer.edited = edited
    return observer, logits


def calls_of(checkpoint: Checkpoint, inputs: Sequence[Ids]) -> dict[str, list[AttentionCall]]:
    """kind -> one call per layer, in one pass over these arguments: a model of ours, a row each."""
    observer, _ = _observe(checkpoint, inputs)
    return {kind: _calls(observer, kind) for kind in observer.calls}


def _observe(checkpoint: Checkpoint, inputs: Sequence[Ids]) -> tuple[_Observer, Tensor]:
    """Observe one pass: what it left behind, and its logits [T, V] or [C]."""
    _hook(checkpoint.model, checkpoint.family)
    observer = _Observer()
    token = _OBSERVER.set(observer)
    try:
        with torch.inference_mode():
            rows = (torch.tensor([ids], device=checkpoint.device) for ids in inputs)
            return observer, checkpoint.model(*rows)[0]
    finally:
        _OBSERVER.reset(token)


def _calls(observer: _Observer, kind: str) -> list[AttentionCall]:
    pairs = zip(observer.calls[kind], observer.given[kind], strict=True)
    calls = [_call(values, *arguments) for arguments, values in pairs]
    changes = {} if observer.edited is None else observer.edited.changes
    return [
        changes[kind, layer].of(call) if (kind, layer) in changes else call
        for layer, call in enumerate(calls)
    ]


def _call(
    values: Tensor,
    module: Any,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None,
    is_causal: bool,
) -> AttentionCall:
    """The call's arguments without the batch axis, which has one row."""
    projection = vars(module)["projection"]
    bias = projection.bias if isinstance(projection, nn.Linear) else None
    return AttentionCall(
        q=q.squeeze(0),
        k=k.squeeze(0),
        v=v.squeeze(0),
        mask=None if mask is None else mask.squeeze(0),
        scale=module.scale,
        is_causal=is_causal,
        projection=projection.weight if isinstance(projection, nn.Linear) else None,
        sample=Sample(sampled(q.size(-2)), values, bias),
    )


def _hook(model: nn.Module, family: Family) -> None:
    """Install the hooks, once for the life of the model; a deep copy has them already."""
    if "is_hooked" in vars(model):
        return
    with _HOOKING:
        if "is_hooked" in vars(model):
            return
        for path, module in model.named_modules():
            for role, pattern in family.kept.items():
                if fnmatch.fnmatchcase(path, pattern):
                    module.register_forward_hook(_keep(role))
            for kind, place in family.attentions.items():
                if place is not None and fnmatch.fnmatchcase(path, place):
                    beside: Any = model.get_submodule(path.rpartition(".")[0])
                    vars(module)["projection"] = beside.output  # past nn.Module: not a child
                    module.register_forward_pre_hook(_keep_call(kind))
                    last = beside.output if isinstance(beside.output, nn.Linear) else module
                    last.register_forward_hook(_keep_given(kind))
        vars(model)["is_hooked"] = True


def _keep_call(kind: str) -> Any:
    def keep(module: nn.Module, inputs: Any) -> None:
        observer = _OBSERVER.get()
        if observer is not None:
            observer.calls[kind].append((module, *inputs))  # made sense of after the pass

    return keep


def _keep_given(kind: str) -> Any:
    def keep(module: nn.Module, inputs: Any, output: Tensor) -> None:
        observer = _OBSERVER.get()
        if observer is not None:
            queries = sampled(output.size(-2)).to(output.device)
            observer.given[kind].append(output[0].index_select(-2, queries))

    return keep


def _keep(role: str) -> Any:
    def keep(module: nn.Module, inputs: Any, output: Tensor) -> None:
        observer = _OBSERVER.get()
        if observer is not None:
            observer.inputs[role].append(inputs)
            observer.outputs[role].append(output)
            observer.modules[role].append(module)

    return keep


def _write_down(
    checkpoint: Checkpoint,
    observer: _Observer,
    forced: ForcedPass,
    sources: Ids,
    targets: Ids,
    logits: Tensor,
) -> Recording:
    read = tuple(map(source_side(checkpoint.tokenizer).token, sources))
    tokens_by_id: dict[int, tuple[Token, ...]] = {id(sources): read}

    def tokens(ids: Ids) -> tuple[Token, ...]:
        if id(ids) not in tokens_by_id:  # most kinds share their rows and columns
            tokens_by_id[id(ids)] = tuple(map(checkpoint.tokenizer.token, ids))
        return tokens_by_id[id(ids)]

    attentions = {
        kind: Attention(
            kind=kind,
            queries=tokens(rows.queries),
            keys=tokens(rows.keys),
            calls=tuple(_calls(observer, kind)),
            produced=None if rows.produced is None else tokens(rows.produced),
        )
        for kind, rows in forced.rows.items()
    }
    return Recording(
        source=tokens(sources),
        target=tokens(targets),
        attentions=MappingProxyType(attentions),
        positions=MappingProxyType(_positions(checkpoint, observer, forced, tokens)),
        logits=logits[-len(targets) :] if targets else logits,
        classification=_classification(checkpoint, observer, logits),
    )


def _positions(
    checkpoint: Checkpoint, observer: _Observer, forced: ForcedPass, tokens: Any
) -> dict[str, PositionalEncoding]:
    """Collect what the sides' embedding layers put together; nothing without positions."""
    if not observer.outputs["positions"]:
        return {}
    config: Any = checkpoint.config
    tables = (cast(Any, module).table for module in observer.modules["positions"])
    rows = zip(*(observer.outputs[role] for role in EMBEDDING), tables, strict=True)
    return {
        side: PositionalEncoding(
            tokens(ids),
            embedded[0].float().cpu(),
            encoded.float().cpu(),
            table.detach().float().cpu(),
            joined[0].float().cpu(),
            config.positions,
        )
        for (side, ids), (embedded, encoded, joined, table) in zip(
            forced.embedded.items(), rows, strict=True
        )
    }


def _classification(
    checkpoint: Checkpoint, observer: _Observer, logits: Tensor
) -> PooledClassification | None:
    """Keep what a classifier decided and from what; None for models that classify nothing."""
    if not observer.inputs["pool"]:
        return None
    ((outputs, real),) = observer.inputs["pool"]
    classify: Any = checkpoint.model.get_submodule(checkpoint.family.kept["classify"])
    config: Any = checkpoint.config
    weight, bias = classify.weight.detach(), classify.bias.detach()
    return PooledClassification(
        classes=config.classes,
        logits=logits.float().cpu(),
        pooling=config.pooling,
        outputs=outputs[0].float().cpu(),
        weight=weight.float().cpu(),
        bias=bias.float().cpu(),
        real=real[0].cpu(),
    )
