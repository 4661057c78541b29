"""One forced pass of a checkpoint whose modules are not ours: attention is found by watching."""

from collections.abc import Callable, Sequence
from types import MappingProxyType

import torch

from transformer.checkpoint import Checkpoint
from transformer.decoding.steps import candidates_of
from transformer.inputs import InputError
from transformer.models.family import ForcedPass, Ids, Rows
from transformer.recording import Attention, AttentionCall, Recording
from transformer.recording.decisions import Classification, Masked
from transformer.tokenizer import Token
from transformer.watch.kinds import by_kind
from transformer.watch.module import Calls, maker, numbered
from transformer.watch.schemes import position_schemes
from transformer.watch.seen import Seen
from transformer.watch.watcher import Watcher

Name = Callable[[Ids], tuple[Token, ...]]


def record_watched(
    checkpoint: Checkpoint, forced: ForcedPass, sources: Ids, targets: Ids
) -> Recording:
    """Run the model once and record its attention. Raises InputError if none was seen."""
    inputs = _rows(checkpoint, forced.inputs)
    watcher = Watcher(checkpoint.model)
    with torch.inference_mode(), watcher:
        logits = checkpoint.model(*inputs)[0]
    if not watcher.seen:
        raise InputError(
            f"No attention was seen in {checkpoint.name}: it is not a Transformer, or its "
            "attention runs in code that torch does not show."
        )

    def name(ids: Ids) -> tuple[Token, ...]:
        return tuple(map(checkpoint.tokenizer.token, ids))

    attentions = {
        kind: _attention(kind, seen, forced, name) for kind, seen in _kinds(watcher, forced).items()
    }
    # The same under the names that the watcher gives its kinds.
    as_seen = dict(zip(by_kind(watcher.seen), attentions.values(), strict=True))
    schemes = position_schemes(watcher, as_seen, tuple(inputs))
    return Recording(
        source=name(sources),
        target=name(targets),
        attentions=MappingProxyType(attentions),
        positions=schemes.positions,
        rotary=schemes.rotary,
        logits=logits[-len(targets) :] if targets else logits,
        classification=_classification(checkpoint, logits),
        masked=_masked(checkpoint, sources, logits),
    )


def watched_calls(
    checkpoint: Checkpoint, forced: ForcedPass, inputs: Sequence[Ids], n_real: int
) -> dict[str, list[AttentionCall]]:
    """kind -> one call per layer, in one pass over these arguments, a row each.

    n_real: of the first argument; what follows is said to be padding.
    """
    rows = _rows(checkpoint, inputs)
    mask = torch.ones_like(rows[0])
    mask[:, n_real:] = 0
    watcher = Watcher(checkpoint.model)
    with torch.inference_mode(), watcher:
        checkpoint.model(*rows, mask=mask)
    return {
        kind: [maker(call)() for call in calls] for kind, calls in _kinds(watcher, forced).items()
    }


def _rows(checkpoint: Checkpoint, inputs: Sequence[Ids]) -> list[torch.Tensor]:
    return [torch.tensor([ids], device=checkpoint.device) for ids in inputs]


def _kinds(watcher: Watcher, forced: ForcedPass) -> dict[str, list[Seen]]:
    """What was seen, by kind; a family that has but one has no other, whatever it looks like."""
    found = by_kind(watcher.seen)
    if len(forced.rows) == 1 and len(found) == 1:
        return dict(zip(forced.rows, found.values(), strict=True))
    return found


def _attention(kind: str, seen: list[Seen], forced: ForcedPass, name: Name) -> Attention:
    """A kind that the family does not know, or that reads fewer positions, has them numbered."""
    _, n_queries, n_keys = seen[0].sizes
    rows = forced.rows.get(kind)
    if rows is None or (len(rows.queries), len(rows.keys)) != (n_queries, n_keys):
        rows = _alike(forced, n_queries, n_keys)
    calls = Calls([maker(call) for call in seen])
    if rows is None:
        return Attention(kind, numbered(n_queries), numbered(n_keys), calls)
    produced = None if rows.produced is None else name(rows.produced)
    return Attention(kind, name(rows.queries), name(rows.keys), calls, produced)


def _alike(forced: ForcedPass, n_queries: int, n_keys: int) -> Rows | None:
    """Rows of the same sizes: a second tower reads the same tokens."""
    sizes = (n_queries, n_keys)
    fitting = (
        rows for rows in forced.rows.values() if (len(rows.queries), len(rows.keys)) == sizes
    )
    return next(fitting, None)


def _classification(checkpoint: Checkpoint, logits: torch.Tensor) -> Classification | None:
    """What a classifier decided; None for a model whose configuration names no classes."""
    config = checkpoint.config
    classes: tuple[str, ...] = getattr(config, "classes", ())
    if not classes or logits.shape != (len(classes),):
        return None
    is_exclusive = getattr(config, "is_exclusive", True)
    return Classification(classes, logits.float().cpu(), is_exclusive=is_exclusive)


def _masked(checkpoint: Checkpoint, sources: Ids, logits: torch.Tensor) -> tuple[Masked, ...]:
    """What a masked language model puts in the place of each mask."""
    mask = getattr(checkpoint.config, "mask_id", None)
    if mask is None or logits.dim() != 2 or logits.size(1) != checkpoint.config.vocab_size:
        return ()
    return tuple(
        Masked(position, *candidates_of(logits[position].float().cpu(), checkpoint.tokenizer))
        for position, id in enumerate(sources)
        if id == mask
    )
