"""One forced pass of a checkpoint whose modules are not ours: attention is found by watching."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import torch

from transformer.checkpoint import Checkpoint
from transformer.decoding.steps import candidates_of
from transformer.editing.checking import check_edits, side_read
from transformer.editing.editor import Editor, Given
from transformer.edits.edit import EditError
from transformer.hugging_face.model import of_two_texts
from transformer.inputs import InputError
from transformer.models.family import ForcedPass, Ids, Rows
from transformer.models.token_model import notes_on_mode
from transformer.own_module.model import OwnModel
from transformer.recording import Attention, AttentionCall, Recording
from transformer.recording.data import Classification, Masked
from transformer.recording.vector import MEAN, Pooling, TextVector
from transformer.token import Token
from transformer.vocabulary import source_side
from transformer.watch.calls.watcher import Watcher
from transformer.watch.capture.homes import text_in
from transformer.watch.capture.operators import name_of
from transformer.watch.editing import (
    EditingWatcher,
    Plan,
    Spot,
    check_met,
    counted,
    given_by,
    states_of,
)
from transformer.watch.kinds.attention import NO_TEXTS, Calls, maker, numbered, with_names
from transformer.watch.kinds.descent import Descent
from transformer.watch.kinds.kind import Kind, keys_of, notes_on_sums
from transformer.watch.kinds.naming import Named, named, notes_on_names
from transformer.watch.kinds.schemes import position_schemes
from transformer.watch.kinds.stacks import by_kind, notes_on_readings, settle, unseen
from transformer.watch.results import DRAWS, Outside

Name = Callable[[Ids], tuple[Token, ...]]


_NOTHING = "it is not a Transformer, or its attention runs in code that torch does not show"


def record_watched(
    checkpoint: Checkpoint,
    forced: ForcedPass,
    sources: Ids,
    targets: Ids,
    editor: Editor,
) -> Recording:
    """Run the model once and record its attention. Raises InputError if none was seen.

    With edits it runs twice: the first time shows which attention is which.
    """
    inputs = _rows(checkpoint, forced.inputs)
    if isinstance(checkpoint.model, OwnModel):
        checkpoint.model.check_mask(*inputs)
    watcher = _editing(checkpoint, forced, editor, inputs)
    with torch.inference_mode(), watcher:
        logits = checkpoint.model(*inputs)[0]
    varies = _varies(checkpoint, watcher, inputs, None if editor.edits else logits)
    _settle(checkpoint, watcher, inputs)
    check_met(editor)
    missing = unseen(watcher)
    if not by_kind(watcher.seen):
        outside = Outside()
        with torch.inference_mode(), outside.looking():
            checkpoint.model(*inputs)
        why = "; ".join([*outside.reasons, *map(str, missing)]) or _NOTHING
        raise InputError(f"No attention was seen in {checkpoint.name}: {why}.")

    def name(ids: Ids) -> tuple[Token, ...]:
        tokenizer = checkpoint.tokenizer
        tokens = map((source_side(tokenizer) if ids is sources else tokenizer).token, ids)
        return of_two_texts(checkpoint, tuple(tokens), sources)

    kinds = _kinds(watcher, forced)
    modules = [each for each in watcher.modules if each is not checkpoint.model]  # that is ours
    of_mode = notes_on_mode(modules)
    n_positions = NO_TEXTS if watcher.homes is None else watcher.homes.lengths
    made_of = {
        each: _attention(each, kind, forced, name, n_positions) for each, kind in kinds.items()
    }
    attentions = {each: attention for each, (attention, _) in made_of.items()}
    # The same under the names that the watcher gives its kinds.
    as_seen = dict(zip(by_kind(watcher.seen), attentions.values(), strict=True))
    schemes = position_schemes(watcher, as_seen, tuple(inputs))
    return Recording(
        source=name(sources),
        target=name(targets),
        attentions=MappingProxyType(attentions),
        positions=schemes.positions,
        rotary=schemes.rotary,
        unmeasured=schemes.unmeasured,
        unseen=missing,
        masked=_masked(checkpoint, sources, logits),
        **given_for(checkpoint, targets, logits, editor.hidden(len(sources))),
        varies=varies,
        notes=(
            *(of_mode or filter(None, (varies,))),
            *notes_on_readings(kinds),
            *notes_on_names({each: names for each, (_, names) in made_of.items()}),
            *notes_on_sums(kinds),
            *getattr(checkpoint.model, "notes", ()),
        ),
    )


def _varies(
    checkpoint: Checkpoint,
    watcher: Watcher,
    inputs: Sequence[torch.Tensor],
    logits: torch.Tensor | None,
) -> str:
    """Make `Recording.varies`: of random numbers that were drawn, and of two passes of a module of
    one's own, which may keep anything. logits: of the pass; None: it was edited.
    """
    if watcher.draws:
        return DRAWS.format(name_of(checkpoint.model))
    if not isinstance(checkpoint.model, OwnModel):
        return ""
    with torch.inference_mode():
        return checkpoint.model.difference(*inputs, logits=logits)


def given_for(
    checkpoint: Checkpoint, targets: Ids, logits: torch.Tensor, hidden: tuple[int, ...] = ()
) -> dict[str, Any]:
    """The fields of a recording that are read off what the model gives [T, V], [C] or [T, D]."""
    return {
        "logits": logits[-len(targets) :] if targets else logits,
        "classification": _classification(checkpoint, logits),
        "numbers": numbers(checkpoint, logits),
        "vector": text_vector(checkpoint, logits, hidden),
    }


def plan_of(checkpoint: Checkpoint, forced: ForcedPass) -> Plan:
    """Plan which attention is which, by one pass that nothing changes."""
    inputs = _rows(checkpoint, forced.inputs)
    watcher = Watcher(checkpoint.model, is_for_edits=True, is_kept=False)
    with torch.inference_mode(), watcher:
        checkpoint.model(*inputs)
    _settle(checkpoint, watcher, inputs)
    return Plan(watcher, _kinds(watcher, forced), tuple(inputs))


def _settle(
    checkpoint: Checkpoint, watcher: Watcher, inputs: Sequence[torch.Tensor], **named: torch.Tensor
) -> None:
    def run(descent: Descent) -> None:
        with torch.inference_mode(), descent:
            checkpoint.model(*inputs, **named)

    settle(checkpoint.model, watcher.seen, run)


def edited_logits(
    checkpoint: Checkpoint, forced: ForcedPass, plan: Plan, editor: Editor
) -> torch.Tensor:
    """Compute logits of one edited pass [T, V], or of a classifier [C]. Raises EditError."""
    watcher = EditingWatcher(checkpoint.model, plan, editor, is_kept=False)
    with torch.inference_mode(), watcher:
        logits: torch.Tensor = checkpoint.model(*_rows(checkpoint, forced.inputs))[0]
    check_met(editor)
    return logits


def edited_calls(
    checkpoint: Checkpoint, forced: ForcedPass, plan: Plan, editor: Editor
) -> list[tuple[Spot, AttentionCall]]:
    """Each call of an edited pass, and which attention it is. Raises EditError."""
    watcher = EditingWatcher(checkpoint.model, plan, editor)
    with torch.inference_mode(), watcher:
        checkpoint.model(*_rows(checkpoint, forced.inputs))
    return [(spot, maker(seen)()) for seen, spot in plan.spots(watcher)]


def watched_given(checkpoint: Checkpoint, forced: ForcedPass) -> Given:
    """Collect what heads and layers give in a pass that nothing changes."""
    watcher, states = Watcher(checkpoint.model), dict[str, torch.Tensor]()

    def keep(path: str, inputs: torch.Tensor) -> None:
        states[path] = inputs

    layers = states_of(checkpoint.model, counted(checkpoint.model), keep)
    inputs = _rows(checkpoint, forced.inputs)
    with torch.inference_mode(), layers, watcher:
        checkpoint.model(*inputs)
    _settle(checkpoint, watcher, inputs)
    return given_by(_kinds(watcher, forced), states)


def _editing(
    checkpoint: Checkpoint, forced: ForcedPass, editor: Editor, inputs: Sequence[torch.Tensor]
) -> Watcher:
    """Watches a pass over inputs, and edits it if there are edits."""
    is_own = checkpoint.family.is_own
    if not editor.edits:
        return Watcher(checkpoint.model, inputs=inputs, is_followed=is_own, are_texts=True)
    plan = plan_of(checkpoint, forced)
    check_edits(editor.edits, plan.sizes, plan.sides, side_read(checkpoint))
    plan.check_words(editor.edits, forced)
    return EditingWatcher(
        checkpoint.model, plan, editor, inputs=inputs, is_followed=is_own, are_texts=True
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
    _settle(checkpoint, watcher, rows, mask=mask)
    return {
        name: [maker(call)() for call in kind.calls]
        for name, kind in _kinds(watcher, forced).items()
    }


def _rows(checkpoint: Checkpoint, inputs: Sequence[Ids]) -> list[torch.Tensor]:
    return [torch.tensor([ids], device=checkpoint.device) for ids in inputs]


def _kinds(watcher: Watcher, forced: ForcedPass) -> dict[str, Kind]:
    """Sort what was seen by kind; a family that has but one has no other, whatever it is like."""
    calls = by_kind(watcher.seen)
    if len(forced.rows) == 1 and len(calls) == 1:
        (role,), (kind,) = forced.rows, calls.values()
        return {role: replace(kind, role=role)}
    return calls


def _attention(
    title: str, kind: Kind, forced: ForcedPass, name: Name, n_positions: Mapping[int, int]
) -> tuple[Attention, tuple[Named, Named]]:
    """A kind that the family does not know, or that reads fewer positions, has them numbered.

    n_positions: of each text, where the pass was followed.
    """
    _, n_queries, n_keys = kind.sizes
    rows, first = forced.rows.get(kind.role or ""), kind.calls[0]
    n_added = len(first.added)
    if rows is None or (len(rows.queries), len(rows.keys)) != (n_queries, n_keys - n_added):
        rows = None if kind.is_other else _alike(forced, n_queries, n_keys)
    is_beside = (kind.role or title) == "cross" and "cross" not in forced.rows
    if is_beside:  # a model that reads one text looks at something else: its keys are no tokens
        rows = next((each for each in forced.rows.values() if len(each.queries) == n_queries), None)
    calls = Calls([maker(call) for call in kind.calls])
    queries = None if rows is None else numbered(n_queries)
    keys = None if rows is None or is_beside else keys_of(numbered(len(rows.keys)), first)
    named_axes = []
    for labels, slots, ids in zip(
        first.homes or (None, None),
        (queries, keys),
        ((), ()) if rows is None else (rows.queries, rows.keys),
        strict=True,
    ):
        text = None if labels is None else text_in(labels)
        length = None if text is None else (text, n_positions[text])
        named_axes.append(named(labels, slots, () if slots is None else name(ids), length))
    attention = Attention(
        kind=title,
        queries=named_axes[0].tokens or numbered(n_queries),
        keys=named_axes[1].tokens or numbered(n_keys),
        calls=calls,
        produced=None if rows is None or rows.produced is None else name(rows.produced),
        role=kind.role,
        is_softmax=kind.is_softmax,
        numbers=kind.numbers,
    )
    return with_names(attention, kind, *named_axes), (named_axes[0], named_axes[1])


def _alike(forced: ForcedPass, n_queries: int, n_keys: int) -> Rows | None:
    """Rows of the same sizes: a second tower reads the same tokens."""
    sizes = (n_queries, n_keys)
    fitting = (
        rows for rows in forced.rows.values() if (len(rows.queries), len(rows.keys)) == sizes
    )
    return next(fitting, None)


def _classification(checkpoint: Checkpoint, logits: torch.Tensor) -> Classification | None:
    """Keep what a classifier decided; None for a model whose configuration names no classes."""
    config = checkpoint.config
    classes: tuple[str, ...] = getattr(config, "classes", ())
    if not classes or logits.shape != (len(classes),):
        return None
    is_exclusive = getattr(config, "is_exclusive", True)
    return Classification(classes, logits.float().cpu(), is_exclusive=is_exclusive)


def numbers(checkpoint: Checkpoint, logits: torch.Tensor) -> dict[str, float]:
    """Keep the numbers that a model puts on a text, by their names; none where it names none."""
    names: tuple[str, ...] = getattr(checkpoint.config, "numbers", ())
    return dict(zip(names, logits.tolist(), strict=True)) if logits.shape == (len(names),) else {}


def text_vector(
    checkpoint: Checkpoint, logits: torch.Tensor, hidden: tuple[int, ...] = ()
) -> TextVector | None:
    """Keep a text's vector, of a model that gives one for each token [T, D] and nothing else.

    The mean of all tokens, where the folder names no pooling; but for hidden ones. Raises
    EditError where no other is left.
    """
    config = checkpoint.config
    classes: tuple[str, ...] = getattr(config, "classes", ())
    if checkpoint.family.decodes or classes:
        return None
    if logits.dim() != 2 or logits.size(1) == config.vocab_size:  # a number for each token
        return None
    pooling: Pooling | None = getattr(config, "pooling", None)
    if len(hidden) == len(logits):
        raise EditError("Every word is hidden: nothing is left that makes a vector.")
    return TextVector(logits.float().cpu(), pooling or MEAN, pooling is not None, hidden)


def _masked(checkpoint: Checkpoint, sources: Ids, logits: torch.Tensor) -> tuple[Masked, ...]:
    """Collect what a masked language model puts in the place of each mask."""
    mask = getattr(checkpoint.config, "mask_id", None)
    if mask is None or logits.dim() != 2 or logits.size(1) != checkpoint.config.vocab_size:
        return ()
    return tuple(
        Masked(position, *candidates_of(logits[position].float().cpu(), checkpoint.tokenizer))
        for position, id in enumerate(sources)
        if id == mask
    )
