"""record_module(): one pass of any torch module over its inputs -> a Recording."""

import copy
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn

from transformer.device import callers_state, usual_state
from transformer.editing.checking import check_edits
from transformer.editing.editor import Editor
from transformer.edits.edit import Edit, EditError
from transformer.edits.spelling import edit_kinds, edits_of
from transformer.inputs import MODULE, TOKENS, InputError, checks
from transformer.models.token_model import notes_on_mode
from transformer.recording import Recording
from transformer.refusal import Refusal
from transformer.watch.calls.seen import Seen
from transformer.watch.calls.watcher import Watcher
from transformer.watch.capture.operators import name_of
from transformer.watch.editing import EditingWatcher, Plan, check_met, given_by
from transformer.watch.kinds.attention import NO_TEXTS, Tokens, attention_of, sides_of
from transformer.watch.kinds.kind import Kind, notes_on_sums
from transformer.watch.kinds.naming import notes_on_names, why_none
from transformer.watch.kinds.schemes import position_schemes
from transformer.watch.kinds.stacks import by_kind, notes_on_readings, settle, unseen
from transformer.watch.results import DRAWS, Outside, difference, logits_of, notes_on_values

# Inputs of a module; where it cannot run over them, a sentence that says why.

BESIDE_TEXT = ("pixel_values", "input_features", "input_values")
"""The library's names for images and sounds."""
OTHERS = (*BESIDE_TEXT, "decoder_input_ids")
"""Inputs that they ask for though they may be left out."""
ABSENT = (
    *("NoneType", "is None", "cannot be", "missing", "required"),
    *("must specify", "have to specify", "must provide"),
)
"""Words of an error where an input was left out."""
_PLAIN = str | bytes | int | float | bool | None
_NO_TENSORS = (
    "A module of your own reads tensors, not {what}: give its inputs as a tensor, a tuple or a "
    "dict, and the text's pieces as tokens."
)


def arguments(inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Part inputs into arguments. Raises InputError where there is no tensor among them."""
    if (what := _instead(inputs)) is not None:
        raise InputError(_NO_TENSORS.format(what=what))
    if isinstance(inputs, Mapping):
        return (), dict(inputs)
    if isinstance(inputs, tuple | list):
        return tuple(inputs), {}
    return (inputs,), {}


def _instead(inputs: Any) -> str | None:
    """Name what is given instead of tensors; None where there are some, or what nobody knows."""
    leaves = list(_leaves(inputs))
    array = next((it for it in leaves if type(it).__module__ == "numpy"), None)
    if any(not isinstance(each, _PLAIN) and each is not array for each in leaves):
        return None
    if array is not None:
        return "arrays of numpy"
    if any(isinstance(each, str) for each in leaves):
        return "text"
    if not leaves:
        return None
    return "plain numbers" if any(each is not None for each in leaves) else "None"


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping | list | tuple):
        inner: Iterable[Any] = value.values() if isinstance(value, Mapping) else value
        for each in inner:
            yield from _leaves(each)
    else:
        yield value


def check_filled(values: Iterable[Any]) -> None:
    """Raise InputError where a sequence among the inputs is empty."""
    for each in values:
        if isinstance(each, Tensor) and each.dim() <= 3 and not each.numel():
            raise InputError(f"An input is empty, {_described(each)}: there is nothing to read.")


def check_numbers(module: nn.Module, values: Iterable[Any], output: Any = None) -> None:
    """Raise InputError where weights, inputs or what became of them are on the meta device.

    output: of the pass; None: it failed. Weights that are loaded while it runs are no fault.
    """
    leaves = [it for it in _leaves([*values, output]) if isinstance(it, Tensor)]
    weights = module.parameters() if output is None else ()
    if any(each.is_meta for each in (*leaves, *weights)):
        raise InputError(
            f"{name_of(module)} cannot be recorded on the meta device, which holds no numbers: "
            "load the weights first, and give inputs from where they are."
        )


@contextmanager
def said_why(module: nn.Module, args: Sequence[Any], named: Mapping[str, Any]) -> Iterator[None]:
    """Turn what a module raises over these arguments into an InputError that says what it lacks."""
    try:
        yield
    except Refusal:
        raise
    except Exception as error:
        check_numbers(module, [*args, *named.values()])
        raise InputError(_why(module, args, named, error)) from error


def _why(module: nn.Module, args: Sequence[Any], named: Mapping[str, Any], error: Exception) -> str:
    name, left = name_of(module), lacking(module, args, named, str(error))
    if left:
        missing = " and ".join(left)
        return f"{name} was not given {missing}, which it also reads: give all inputs, in a dict."
    names = ", ".join(_parameters(module))
    first = next(iter(str(error).splitlines()), "").rstrip(". ")[:300]
    shapes = ", ".join(map(_described, (*args, *named.values())))
    return (
        f"{name} cannot run over {shapes}: {first or type(error).__name__}. Its forward takes "
        f"{names or 'nothing'}."
    )


def lacking(
    module: nn.Module, args: Sequence[Any], named: Mapping[str, Any], message: str
) -> list[str]:
    """Inputs that an error may be about: those that must be given or that it names, else others.

    message: by the error.
    """
    parameters = _parameters(module)
    left = [name for name in list(parameters)[len(args) :] if named.get(name) is None]
    required = [name for name in left if parameters[name].default is inspect.Parameter.empty]
    unknown = set(named) - set(parameters)
    if required or not any(word in message for word in ABSENT):
        return required if not unknown else []
    inputs = [name for name in left if names(message, name)]
    return inputs or [name for name in left if name in OTHERS] or left[:3]


def names(message: str, name: str) -> bool:
    """Tell whether a message names an input; a short name is a word like others."""
    return len(name) > 3 and bool(re.search(rf"\b{re.escape(name)}\b", message, re.IGNORECASE))


def _parameters(module: nn.Module) -> dict[str, inspect.Parameter]:
    """List what its forward takes by name."""
    plain = getattr(module, "_orig_mod", module)
    parameters = inspect.signature(plain.forward).parameters
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {name: each for name, each in parameters.items() if each.kind not in kinds}


def _described(value: Any) -> str:
    if not isinstance(value, Tensor):
        return type(value).__name__
    return f"{list(value.shape)} of {str(value.dtype).removeprefix('torch.')}"


# record_module(): one pass of any torch module over its inputs -> a Recording.

_NOTHING = (
    "in this pass it called neither scaled_dot_product_attention nor nn.MultiheadAttention, and no "
    "softmax over products of queries and keys met values"
)


@usual_state()
@checks(module=MODULE, tokens=TOKENS.or_none)
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

    is_known = type(module).__module__.startswith("transformers.")  # reads ids in their order
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
        is_followed=not made and not is_known,
    )
    if made:
        passed = copy.deepcopy((args, named)) if copies else (args, named)
        unedited = _run(module, *passed, watcher)
        plan = Plan(settled(watcher), by_kind(watcher.seen), passed[1] or passed[0])
        check_edits(made, plan.sizes, plan.sides)
        editor = Editor(made, dict(_references(referring, by_kind(watcher.seen))))
        watcher = EditingWatcher(
            module,
            plan,
            editor,
            copies=copies,
            is_one=is_one,
            inputs=values,
            is_followed=not is_known,
        )
    output = _run(module, args, named, watcher)
    varies = DRAWS.format(name_of(module)) if watcher.draws else ""
    if made and not varies and not copies and not module.training:  # two plain passes beside it
        again = _run(module, args, named, nullcontext())
        varies = difference(name_of(module), unedited, again)
    settled(watcher)
    check_met(editor)
    for call in watcher.seen:
        _check_batch(call, values)
    kinds, missing = by_kind(watcher.seen), unseen(watcher)
    if not kinds:
        outside = Outside()
        if not copies:
            _run(module, args, named, outside.looking())
        why = "; ".join([*outside.reasons, *map(str, missing)]) or _NOTHING
        raise InputError(f"No attention was seen in {name_of(module)}: {why}.")
    n_positions = NO_TEXTS if watcher.homes is None else watcher.homes.lengths
    sides = sides_of(kinds, tokens, n_positions)
    made_of = {
        name: attention_of(
            name,
            kinds,
            sides,
            n_positions,
            named_sides=tokens if isinstance(tokens, Mapping) else ("source",) if tokens else (),
        )
        for name in kinds
    }
    attentions = {name: attention for name, (attention, _) in made_of.items()}
    names = {name: axes for name, (_, axes) in made_of.items()}
    if tokens and (lost := why_none(names)):  # of what is named after nothing, nothing is proved
        unproven = (f"no row or column of it is named after a token: {lost}",)
        attentions = {kind: replace(it, unproven=unproven) for kind, it in attentions.items()}
    schemes = position_schemes(watcher, attentions, inputs)
    of_mode, logits = notes_on_mode(watcher.modules), logits_of(output)
    return Recording(
        source=sides.get("source", ()),
        target=sides.get("target", ()),
        attentions=MappingProxyType(attentions),
        positions=schemes.positions,
        logits=logits,
        rotary=schemes.rotary,
        unmeasured=schemes.unmeasured,
        unseen=missing,
        varies=varies,
        notes=(
            *(of_mode or filter(None, (varies,))),
            *notes_on_values(name_of(module), logits),
            *notes_on_readings(kinds),
            *notes_on_names(names, has_tokens=bool(tokens)),
            *notes_on_sums(kinds),
        ),
    )


def _run(
    module: nn.Module,
    args: Sequence[Any],
    named: Mapping[str, Any],
    watcher: AbstractContextManager[object],
) -> Any:
    with said_why(module, args, named), torch.no_grad(), watcher, callers_state():
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
    """Heads folded into the batch look like a batch: then the inputs tell. Raises InputError.

    One input that holds one sequence is enough, and of several each has as many heads.
    """
    n_heads, n_queries, n_keys = call.sizes
    if not call.is_folded or n_heads == 1:
        return
    n_sequences = []
    for tensor in inputs:
        if not isinstance(tensor, Tensor) or tensor.dim() != 2 + tensor.is_floating_point():
            continue
        sizes = tensor.shape[:2]
        n_tokens = n_keys if n_keys in sizes else n_queries  # of one query keys say more
        if n_tokens in sizes and tuple(tensor.shape) != call.sizes:  # which is a mask
            n_sequences.append(sizes[0] if sizes[1] == n_tokens else sizes[1])
    if n_sequences and min(n_sequences) > 1 and n_heads % min(n_sequences) == 0:
        raise InputError(
            f"The inputs seem to hold {min(n_sequences)} sequences: record one sequence at a time, "
            "as a batch of one."
        )
