"""record(): one forced pass of a model, observed and written down as a Recording."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, cast

import torch
from torch import Tensor, nn

from transformer.checkpoint import Checkpoint, check_open
from transformer.device import device_trouble, usual_state
from transformer.editing.checking import read_words
from transformer.editing.editor import Editor
from transformer.editing.ours import Editing, check, editing
from transformer.editing.references import references
from transformer.edits.edit import Edit, EditError
from transformer.edits.spelling import edits_of
from transformer.files.foreign_text import halves
from transformer.finite import check_finite
from transformer.inputs import target_ids
from transformer.models.family import EMBEDDING, ForcedPass, Ids
from transformer.models.token_model import TokenWriter, notes_on_mode
from transformer.old_spelling import respelled
from transformer.origin import Origin
from transformer.recording import (
    Attention,
    AttentionCall,
    PositionalEncoding,
    Recording,
    Sample,
    sampled,
)
from transformer.recording.data import PooledClassification
from transformer.recording.hooks import Observer, observing
from transformer.recording.watched import record_watched
from transformer.token import Token
from transformer.vocabulary import source_side


@respelled(text="source")
@usual_state()
def record(
    checkpoint: Checkpoint,
    text: str,
    target: str | Sequence[Token] | None = None,
    edits: Iterable[Edit | str] | None = (),
) -> Recording:
    """Run the model once over text and target and keep what its attentions saw.

    As `transformer.record` of a checkpoint, which is open here. Raises InputError, of an edit
    EditError, and DeviceError where the device fails or half precision does not hold the model's
    numbers.
    """
    check_open(checkpoint)
    sources, made = read_words(checkpoint, text, edits_of(edits))
    if checkpoint.family.recorded is not None:
        return _without_model(checkpoint, target, made)
    targets = target_ids(checkpoint, target, len(sources))
    forced = checkpoint.family.forced_pass(checkpoint.config, sources, targets)
    with device_trouble():
        if checkpoint.family.is_watched:
            editor = Editor(made, references(checkpoint, text, sources, made))
            recording = record_watched(checkpoint, forced, sources, targets or [], editor)
        else:
            observer, logits = _edited(checkpoint, text, sources, made, forced)
            recording = _write_down(checkpoint, observer, forced, sources, targets or [], logits)
            origin = Origin(checkpoint.path, text, tuple(map(str, made)))
            recording = replace(recording, origin=origin)
        check_finite(checkpoint, forced.inputs, recording.require_logits())
    notes = halves(text, target if isinstance(target, str) else "")
    return replace(recording, notes=(*recording.notes, *notes)) if notes else recording


def _without_model(checkpoint: Checkpoint, target: Any, edits: Sequence[Edit]) -> Recording:
    """Return what a file holds. Raises InputError, or EditError, where more is asked."""
    target_ids(checkpoint, target)
    if edits:
        raise EditError(f"{edits[0]}: {checkpoint.name} has no model that could be changed.")
    recording: Recording = checkpoint.family.recorded(checkpoint.model)  # type: ignore[misc]
    return recording


def _edited(
    checkpoint: Checkpoint,
    source: str,
    sources: Ids,
    edits: Sequence[Edit],
    forced: ForcedPass,
) -> tuple[Observer, Tensor]:
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


def calls_of_batch(
    checkpoint: Checkpoint, inputs: Sequence[Sequence[Ids]]
) -> dict[str, list[AttentionCall]]:
    """kind -> one call per layer, in one pass over several texts: a model of ours.

    inputs: for each argument a row per text; they are padded at their end. The heads of a call are
    those of all texts, one text after the other, [B * H, Q, d]; rows of padded queries and keys
    are there too. No logits are computed.
    """
    observer, model = Observer(is_of_batch=True), checkpoint.model
    run: Any = model.states if isinstance(model, TokenWriter) else model
    with torch.inference_mode(), observing(checkpoint, observer):
        run(*(padded_batch(rows, checkpoint.config.pad_id, checkpoint.device) for rows in inputs))
    return {kind: [_call_of_batch(*each) for each in of] for kind, of in observer.calls.items()}


def padded_batch(rows: Sequence[Ids], pad_id: int, device: torch.device) -> Tensor:
    """Ids of several texts as one tensor [B, T], padded at their end."""
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[pad_id] * (longest - len(row))] for row in rows], device=device)


def _call_of_batch(
    module: Any, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, is_causal: bool
) -> AttentionCall:
    """mask: [B or 1, 1, 1 or Q, K]; each text's heads share its own."""
    n_texts, n_heads = q.shape[:2]
    if mask is not None:
        mask = mask.expand(n_texts, n_heads, -1, -1).flatten(0, 1)
    q, k, v = (each.flatten(0, 1) for each in (q, k, v))
    return AttentionCall(q, k, v, mask, module.scale, is_causal)


def _observe(checkpoint: Checkpoint, inputs: Sequence[Ids]) -> tuple[Observer, Tensor]:
    """Observe one pass: what it left behind, and its logits [T, V] or [C]."""
    observer, model = Observer(), checkpoint.model
    with torch.inference_mode(), observing(checkpoint, observer):
        rows = [torch.tensor([ids], device=checkpoint.device) for ids in inputs]
        if not isinstance(model, TokenWriter):
            return observer, model(*rows)[0]
        states = cast(Any, model).states(*rows)
        observer.states = states[0]
        return observer, model.logits(states)[0]


def _calls(observer: Observer, kind: str) -> list[AttentionCall]:
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
    """The call's arguments without the batch axis, which has one row; values: what it gave."""
    projection = vars(module)["projection"]
    bias = projection.bias if isinstance(projection, nn.Linear) else None
    queries = sampled(q.size(-2))
    if len(queries) < q.size(-2):
        values = values.index_select(-2, queries.to(values.device))
    return AttentionCall(
        q=q.squeeze(0),
        k=k.squeeze(0),
        v=v.squeeze(0),
        mask=None if mask is None else mask.squeeze(0),
        scale=module.scale,
        is_causal=is_causal,
        projection=projection.weight if isinstance(projection, nn.Linear) else None,
        sample=Sample(queries, values, bias),
    )


def _write_down(
    checkpoint: Checkpoint,
    observer: Observer,
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
        notes=notes_on_mode(checkpoint.model.modules()),
        last_states=observer.states,
    )


def _positions(
    checkpoint: Checkpoint, observer: Observer, forced: ForcedPass, tokens: Any
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
            _copied(encoded),
            table.detach().float().cpu(),
            joined[0].float().cpu(),
            config.positions,
        )
        for (side, ids), (embedded, encoded, joined, table) in zip(
            forced.embedded.items(), rows, strict=True
        )
    }


def _copied(tensor: Tensor) -> Tensor:
    """A part of the model in float32 on the CPU, which nobody changes the model by."""
    return tensor.to("cpu", torch.float32, copy=True)


def _classification(
    checkpoint: Checkpoint, observer: Observer, logits: Tensor
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
        weight=_copied(weight),
        bias=_copied(bias),
        real=real[0].cpu(),
    )
