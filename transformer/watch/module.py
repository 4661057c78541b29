"""record_module(): one pass of any torch module over its inputs -> a Recording."""

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn

from transformer.editing.checking import check_edits
from transformer.editing.editor import Editor
from transformer.edits.edit import Edit, EditError
from transformer.edits.spelling import edit_kinds, edits_of
from transformer.inputs import InputError
from transformer.models.mode import notes_on_mode
from transformer.recording import Recording
from transformer.watch.calls.seen import Seen
from transformer.watch.calls.watcher import Watcher
from transformer.watch.editing.editing_watcher import EditingWatcher, check_met
from transformer.watch.editing.plan import Plan
from transformer.watch.editing.states import given_by
from transformer.watch.given import arguments, check_filled, check_numbers, said_why
from transformer.watch.kinds.attention import Tokens, attention_of, sides_of
from transformer.watch.kinds.descent import settle
from transformer.watch.kinds.kind import Kind
from transformer.watch.kinds.schemes import position_schemes
from transformer.watch.kinds.stacks import by_kind, notes_on_readings
from transformer.watch.kinds.unseen import unseen

_NOTHING = (
    "in this pass it called neither scaled_dot_product_attention nor nn.MultiheadAttention, and no "
    "softmax over products of queries and keys met values"
)


def record_module(
    module: nn.Module,
    inputs: Any,
    tokens: Tokens | None = None,
    edits: Iterable[Edit | str] | None = (),
) -> Recording:
    """Run a module once, as it is, and keep what its attentions saw.

    inputs: a tensor, a tuple of arguments or a dict of named ones, a batch of one. tokens: what
    stands at each position; left out, positions are numbered. Put the module in eval() first if
    dropout should rest. edits: what to change; then the module runs twice, since the first pass
    shows which attention is which. Raises InputError in a sentence.
    """
    args, named = arguments(inputs)
    plain = Tensor | bool | int | float | str | None
    values = [*args, *named.values()]
    check_filled(values)
    copies = any(not isinstance(each, plain) for each in values)
    is_one = _is_one(values)
    made = edits_of(edits)

    def settled(watcher: Watcher) -> Watcher:
        if not copies:  # an argument that a pass writes to is another one in the next
            settle(module, watcher.seen, lambda descent: _run(module, args, named, descent))
        return watcher

    _check_words(made)
    editor = Editor()
    referring = [each for each in made if edit_kinds()[each.name].text != "none"]
    watcher = Watcher(
        module,
        copies,
        is_one,
        is_for_edits=bool(made),
        is_kept=not made or bool(referring),
        inputs=values,
    )
    if made:
        passed = copy.deepcopy((args, named)) if copies else (args, named)
        _run(module, *passed, watcher)
        plan = Plan(settled(watcher), by_kind(watcher.seen), passed[1] or passed[0])
        check_edits(made, plan.sizes, plan.sides)
        editor = Editor(made, dict(_references(referring, by_kind(watcher.seen))))
        watcher = EditingWatcher(module, plan, editor, copies=copies, is_one=is_one, inputs=values)
    output = _run(module, args, named, watcher)
    settled(watcher)
    check_met(editor)
    for call in watcher.seen:
        _check_batch(call, values)
    kinds, missing = by_kind(watcher.seen), unseen(watcher)
    if not kinds:
        why = "; ".join(map(str, missing)) or _NOTHING
        raise InputError(f"No attention was seen in {type(module).__name__}: {why}.")
    sides = sides_of(kinds, tokens)
    attentions = {name: attention_of(name, kinds, sides) for name in kinds}
    schemes = position_schemes(watcher, attentions, inputs)
    is_one_text = all(kind.reading == 0 for kind in kinds.values())
    return Recording(
        source=sides.get("source", ()),
        target=sides.get("target", ()),
        attentions=MappingProxyType(attentions),
        positions=schemes.positions,
        logits=logits_of(output),
        rotary=schemes.rotary,
        unseen=missing,
        notes=(
            *notes_on_mode(watcher.modules),
            *notes_on_readings(kinds),
            *watcher.reordered.notes(len(watcher.seen) if is_one_text else 1),
        ),
    )


def _run(
    module: nn.Module,
    args: Sequence[Any],
    named: Mapping[str, Any],
    watcher: AbstractContextManager[object],
) -> Any:
    with said_why(module, args, named), torch.no_grad(), watcher:
        output = module(*args, **named)
    check_numbers(module, [*args, *named.values()], output)
    return output


def _check_words(edits: Sequence[Edit]) -> None:
    for edit in edits:
        kind = edit_kinds()[edit.name]
        if kind.words is not None or kind.closes is not None:
            raise EditError(
                f"{edit}: a module by itself is given tensors, and no words: make a checkpoint of "
                "it with from_module."
            )


def _references(edits: Sequence[Edit], kinds: Mapping[str, Kind]) -> Iterator[tuple[Edit, Tensor]]:
    """Yield references of the same inputs: a module reads no text. Raises EditError."""
    references = given_by(kinds, {}) if edits else {}
    for edit in edits:
        if edit.text:
            raise EditError(
                f"{edit}: a module by itself reads no sentence; from_module makes a checkpoint of "
                "it, which does."
            )
        if (edit.place, edit.layer, "heads") in references:
            yield edit, references[edit.place, edit.layer, "heads"][edit.head]


def _is_one(inputs: Sequence[Any]) -> bool:
    """Tell whether the inputs hold one sequence, in a batch of one or in none."""
    tensors = [each for each in inputs if isinstance(each, Tensor) and each.dim() > 1]
    return all(1 in it.shape[:2] or (it.dim() == 2 and _is_features(it)) for it in tensors)


def _is_features(tensor: Tensor) -> bool:
    """Tell whether it may be [T, D] or a mask [Q, K], where ids would be a batch."""
    return tensor.is_floating_point() or tensor.dtype == torch.bool


def _check_batch(call: Seen, inputs: Sequence[Any]) -> None:
    """Heads folded into the batch look like a batch: then the inputs tell. Raises InputError."""
    if not call.is_folded or call.sizes[0] == 1:
        return
    n_queries = call.sizes[1]
    for tensor in inputs:
        if not isinstance(tensor, Tensor) or tensor.dim() != 2 + tensor.is_floating_point():
            continue
        sizes = tensor.shape[:2]
        n_sequences = sizes[0] if sizes[1] == n_queries else sizes[1]
        if n_queries in sizes and n_sequences > 1:
            raise InputError(
                f"The inputs seem to hold {n_sequences} sequences: record one sequence at a time, "
                "as a batch of one."
            )


def logits_of(output: Any) -> Tensor:
    """[T, V] or [C], where a module's output has some; else empty."""
    logits = output.get("logits") if isinstance(output, Mapping) else None
    logits = getattr(output, "logits", output) if logits is None else logits
    if not isinstance(logits, Tensor) or not logits.is_floating_point():
        return torch.zeros(0)
    if logits.dim() > 1 and logits.size(0) == 1:
        logits = logits[0]
    return logits.detach() if logits.dim() in (1, 2) else torch.zeros(0)
