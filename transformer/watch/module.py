"""record_module(): one pass of any torch module over its inputs -> a Recording."""

import copy
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, overload

import torch
from torch import Tensor, nn

from transformer.editing.checking import check_edits
from transformer.editing.editor import Editor
from transformer.edits.edit import Edit, EditError
from transformer.edits.spelling import edit_kinds, edits_of
from transformer.inputs import InputError
from transformer.recording import Attention, AttentionCall, Recording
from transformer.tokenizer import UNKNOWN, Token
from transformer.watch.descent import settle
from transformer.watch.editing import EditingWatcher, Plan, check_met, given_by
from transformer.watch.extra_keys import keys_of, n_after
from transformer.watch.given import arguments, check_filled, check_numbers, running, said_why
from transformer.watch.kinds import Kind, by_kind, notes_on_readings
from transformer.watch.mode import notes_on_mode
from transformer.watch.schemes import position_schemes
from transformer.watch.seen import Seen
from transformer.watch.unseen import unseen
from transformer.watch.watcher import Watcher

Tokens = Sequence[str | Token] | Mapping[str, Sequence[str | Token]]
"""Tokens of the one text that a model reads; or side, "source" or "target", -> its tokens."""

_SPECIAL = re.compile(r"</?(?!unk>)[a-z_]+>|\[(CLS|SEP|PAD|MASK|BOS|EOS)\]|<\|.*\|>")


_NOTHING = (
    "in this pass it called neither scaled_dot_product_attention nor nn.MultiheadAttention, and no "
    "softmax over products of queries and keys met values"
)


def record_module(
    module: nn.Module,
    inputs: Any,
    tokens: Tokens | None = None,
    edits: Iterable[Edit | str] = (),
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
    watcher = Watcher(module, copies, is_one, is_for_edits=bool(made), inputs=values)
    if made:
        passed = copy.deepcopy((args, named)) if copies else (args, named)
        _run(module, *passed, watcher)
        plan = Plan(settled(watcher), by_kind(watcher.seen), passed[1] or passed[0])
        check_edits(made, plan.sizes, plan.sides)
        editor = Editor(made, dict(_references(made, by_kind(watcher.seen))))
        watcher = EditingWatcher(module, plan, editor, copies=copies, is_one=is_one)
    output = _run(module, args, named, watcher)
    settled(watcher)
    check_met(editor)
    for call in watcher.seen:
        _check_batch(call, values)
    kinds, missing = by_kind(watcher.seen), unseen(watcher)
    if not kinds:
        why = "; ".join(map(str, missing)) or _NOTHING
        raise InputError(f"No attention was seen in {type(module).__name__}: {why}.")
    sides = _sides(kinds, tokens)
    attentions = {name: _attention(name, kind, sides) for name, kind in kinds.items()}
    schemes = position_schemes(watcher, attentions, inputs)
    return Recording(
        source=sides.get("source", ()),
        target=(),
        attentions=MappingProxyType(attentions),
        positions=schemes.positions,
        logits=logits_of(output),
        rotary=schemes.rotary,
        unseen=missing,
        notes=(*notes_on_mode(watcher.modules), *notes_on_readings(kinds)),
    )


def _run(
    module: nn.Module,
    args: Sequence[Any],
    named: Mapping[str, Any],
    watcher: AbstractContextManager[object],
) -> Any:
    with said_why(module, args, named), running(module), torch.no_grad(), watcher:
        output = module(*args, **named)
    check_numbers(module, [*args, *named.values()], output)
    return output


def _check_words(edits: Sequence[Edit]) -> None:
    for edit in edits:
        if edit_kinds()[edit.name].words is not None:
            raise EditError(
                f"{edit}: a module by itself is given tensors: exchange the two words in them, or "
                "make a checkpoint of it with from_module."
            )


def _references(edits: Sequence[Edit], kinds: Mapping[str, Kind]) -> Iterator[tuple[Edit, Tensor]]:
    """Yield references of the same inputs: a module reads no text. Raises EditError."""
    referring = [edit for edit in edits if edit_kinds()[edit.name].text != "none"]
    references = given_by(kinds, {}) if referring else {}
    for edit in referring:
        if edit.text:
            raise EditError(
                f"{edit}: a module by itself reads no sentence; from_module makes a checkpoint of "
                "it, which does."
            )
        if (edit.place, edit.layer, "heads") in references:
            yield edit, references[edit.place, edit.layer, "heads"][edit.head]


class Calls(Sequence[AttentionCall]):
    """The calls of one kind, each made when it is first asked for."""

    def __init__(self, makers: Sequence[Callable[[], AttentionCall]]) -> None:
        self._makers = makers
        self._made: dict[int, AttentionCall] = {}

    def __len__(self) -> int:
        return len(self._makers)

    @overload
    def __getitem__(self, layer: int) -> AttentionCall: ...
    @overload
    def __getitem__(self, layer: slice) -> tuple[AttentionCall, ...]: ...
    def __getitem__(self, layer: int | slice) -> AttentionCall | tuple[AttentionCall, ...]:
        if isinstance(layer, slice):
            return tuple(self[each] for each in range(len(self))[layer])
        layer = range(len(self))[layer]
        if layer not in self._made:  # two threads may both make it: the same numbers
            self._made[layer] = self._makers[layer]()
        return self._made[layer]


def maker(seen: Seen) -> Callable[[], AttentionCall]:
    """Prepare to make the call that was seen, with the matrix that joins its heads."""
    make, projection = seen.make, seen.projection
    sample, trace = seen.sample, seen.trace

    def call() -> AttentionCall:
        made = replace(make(), sample=sample, trace=trace)
        if projection is None:
            return made
        return replace(made, projection=projection, has_output=True)

    return call


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


Sides = Mapping[str, tuple[Token, ...]]


def _sides(kinds: Mapping[str, Kind], tokens: Tokens | None) -> Sides:
    """The tokens of each side that the model has, as given or numbered. Raises InputError."""
    sides = tokens if isinstance(tokens, Mapping) else {} if tokens is None else {"source": tokens}
    lengths = dict(_lengths(kinds))
    unknown = sorted(set(sides) - set(lengths))
    if unknown:
        raise InputError(
            f"There are tokens for {', '.join(map(repr, unknown))}, but what this model reads is "
            f"{' and '.join(map(repr, lengths)) or 'not known'}."
        )
    for side, named in sides.items():
        n_queries, n_keys = lengths[side]
        is_cut = n_queries < n_keys < len(named)  # a cache that holds a window only
        if len(named) not in lengths[side] and not is_cut:
            sizes = " or ".join(map(str, sorted(set(lengths[side]))))
            raise InputError(
                f"There are {len(named)} tokens for the {side}, but the model read {sizes} there."
            )
    return {
        side: _named(sides[side]) if side in sides else numbered(sizes[-1])
        for side, sizes in lengths.items()
    }


def _lengths(kinds: Mapping[str, Kind]) -> Iterator[tuple[str, tuple[int, int]]]:
    """Side -> its queries and keys in the pass; there are more keys where a cache had some."""
    sizes: dict[str | None, tuple[int, int, int]] = {}
    for kind in kinds.values():
        n_heads, n_queries, n_keys = kind.sizes
        sizes.setdefault(kind.role, (n_heads, n_queries, n_keys - n_after(kind.calls[0])))
    own = "target" if "cross" in sizes or "encoder_self" in sizes else "source"
    _, n_rows, n_keys = sizes.get("cross", (0, 0, 0))
    if "encoder_self" in sizes:  # no cache: more keys than queries are no words
        n_words = min(sizes["encoder_self"][1:])
        yield "source", (n_words, n_words)
    elif "cross" in sizes:
        yield "source", (n_keys, n_keys)
    if "decoder_self" in sizes:
        yield own, sizes["decoder_self"][1:]
    elif "cross" in sizes:
        yield "target", (n_rows, n_rows)


def _attention(name: str, kind: Kind, sides: Sides) -> Attention:
    """Rows and columns take the tokens of their side where there are as many of them."""
    _, n_queries, n_keys = kind.sizes
    own = "target" if kind.role in ("decoder_self", "cross") and "target" in sides else "source"
    of = "source" if kind.role == "cross" else own
    is_known = kind.role is not None
    return Attention(
        kind=name,
        queries=_last(sides[own], n_queries) if is_known else numbered(n_queries),
        keys=(keys_of(sides[of], kind.calls[0]) if is_known else None) or numbered(n_keys),
        calls=Calls([maker(call) for call in kind.calls]),
        role=kind.role,
        is_softmax=kind.is_softmax,
        numbers=kind.numbers,
    )


def _last(tokens: tuple[Token, ...], n: int) -> tuple[Token, ...]:
    """The last n of them: with a cache, queries are the last of the keys."""
    return tokens[len(tokens) - n :] if n <= len(tokens) else numbered(n)


@lru_cache(maxsize=16)
def numbered(n: int) -> tuple[Token, ...]:
    """Tokens of a sequence of n whose pieces are not known: their positions."""
    return tuple(Token(i, str(i)) for i in range(n))


def _named(tokens: Sequence[str | Token]) -> tuple[Token, ...]:
    """Equal pieces have equal ids: where each first stood. Raises InputError."""
    other = next((each for each in tokens if not isinstance(each, str | Token)), None)
    if other is not None:
        raise InputError(
            f"Tokens are the pieces of the text, in strings, not {type(other).__name__}: ids go "
            "into the inputs."
        )
    firsts: dict[str, int] = {}
    return tuple(
        piece
        if isinstance(piece, Token)
        else Token(firsts.setdefault(piece, i), piece, is_special(piece), unknown=piece in UNKNOWN)
        for i, piece in enumerate(tokens)
    )


def is_special(piece: str) -> bool:
    """Tell whether a piece is written as padding, start, end and the like are.

    >>> is_special("<pad>"), is_special("[CLS]"), is_special("pad")
    (True, True, False)
    """
    return bool(_SPECIAL.fullmatch(piece))


def logits_of(output: Any) -> Tensor:
    """[T, V] or [C], where a module's output has some; else empty."""
    logits = output.get("logits") if isinstance(output, Mapping) else None
    logits = getattr(output, "logits", output) if logits is None else logits
    if not isinstance(logits, Tensor) or not logits.is_floating_point():
        return torch.zeros(0)
    if logits.dim() > 1 and logits.size(0) == 1:
        logits = logits[0]
    return logits.detach() if logits.dim() in (1, 2) else torch.zeros(0)
