"""Schemes by which a module tells its tokens apart by place, as one pass of it shows them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, TypeVar

import torch
from torch import Tensor

from transformer.in_a_line import keys_in_a_line
from transformer.positions.encodings import Rotary
from transformer.positions.turning import (
    CLOSE,
    Close,
    Guess,
    Layout,
    Turn,
    Turned,
    are_alike,
    turn_of,
    turned_by,
)
from transformer.recording import Attention, AttentionCall, PositionalEncoding
from transformer.recording.calls import Norm
from transformer.token import read_only
from transformer.watch.calls.seen import Seen
from transformer.watch.calls.watcher import Watcher
from transformer.watch.capture.tables import Added, encoding_of, held_by
from transformer.watch.capture.tensors import own_attributes, storage
from transformer.watch.capture.turns import (
    Ends,
    forms,
    frequencies_of,
    frequencies_of_angles,
    last_rows,
)
from transformer.watch.kinds.kind import Kind
from transformer.watch.kinds.stacks import by_kind

_FREQUENCIES = "inv_freq"
"""The end of a name of frequencies in Hugging Face's modules, beside which a factor may stand."""
_FEW = 16
"""Rows that a table of turns has at least."""


@dataclass(frozen=True, eq=False)
class PositionSchemes:
    """The parts of a recording that say so; a bias on the scores is part of each call."""

    positions: Mapping[str, PositionalEncoding]
    rotary: Mapping[str, Rotary]
    unmeasured: Mapping[str, str]


def position_schemes(
    watcher: Watcher, attentions: Mapping[str, Attention], inputs: Any = ()
) -> PositionSchemes:
    """Collect what a finished watcher saw of positions.

    attentions: kind -> as recorded, of the kinds that `by_kind(watcher.seen)` names. inputs: what
    the module was given, a tensor, a tuple or a dict: ids among them are tokens, never positions.
    Nothing is computed before somebody looks into the mappings; only frequencies are read at
    once, since a later pass may change them (longrope, dynamic scaling).
    """
    held = list(held_frequencies(watcher))

    def added() -> Iterator[tuple[str, PositionalEncoding]]:
        return _encodings(watcher, by_kind(watcher.seen), attentions, token_inputs(inputs))

    @cache
    def turning() -> Rotaries:
        used = {storage(each.table) for each in positions.values()}
        result = _rotary(watcher, by_kind(watcher.seen), attentions, used, held)
        for call in watcher.seen:  # what was kept for this is needed no more
            call.ends = None
        return result

    positions = Later(added)
    return PositionSchemes(
        positions, Later(lambda: turning()[0].items()), Later(lambda: turning()[1].items())
    )


Part = TypeVar("Part")


class Later(Mapping[str, Part]):
    """A mapping whose entries are made when somebody first looks."""

    def __init__(self, make: Callable[[], Iterable[tuple[str, Part]]]) -> None:
        self._make = make

    @cached_property
    def _made(self) -> dict[str, Part]:
        return dict(self._make())

    def __getitem__(self, name: str) -> Part:
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)

    def __repr__(self) -> str:
        return keys_in_a_line(self)

    def __reduce__(self) -> tuple[Callable[..., Mapping[Any, Any]], tuple[dict[str, Part]]]:
        """A copy, or what is sent to another process, has all of it made."""
        return read_only, (self._made,)


def token_inputs(inputs: Any) -> set[int]:
    """The storages of all inputs but those that are named positions."""
    if not isinstance(inputs, Mapping):
        inputs = {str(i): it for i, it in enumerate(inputs if _is_many(inputs) else [inputs])}
    return {
        storage(it)
        for name, it in inputs.items()
        if isinstance(it, Tensor) and "position" not in name
    }


def _is_many(inputs: Any) -> bool:
    return isinstance(inputs, tuple | list)


def _encodings(
    watcher: Watcher,
    kinds: Mapping[str, Kind],
    attentions: Mapping[str, Attention],
    token_inputs: set[int],
) -> Iterator[tuple[str, PositionalEncoding]]:
    """Side -> the rows of positions that were added to it before its first attention."""
    for side, (added, kind) in positions_added(watcher, kinds, token_inputs).items():
        attention = attentions[kind]
        n_before = 0 if attention.is_cross else len(attention.keys) - len(attention.queries)
        yield side, encoding_of(added, attention.queries, n_before)


def positions_added(
    watcher: Watcher, kinds: Mapping[str, Kind], token_inputs: set[int]
) -> dict[str, tuple[Added, str]]:
    """Side -> what was added to it before its first attention, and the kind of that."""
    of = {
        id(part): name
        for name, kind in kinds.items()
        for call in kind.calls
        for part in call.parts or (call,)
    }
    first = {
        id(part) for kind in kinds.values() for part in kind.calls[0].parts or (kind.calls[0],)
    }
    has_two = has_two_sides(kinds)
    result: dict[str, tuple[Added, str]] = {}
    for added in watcher.tables.encodings(token_inputs):
        fitting = [
            (call, kind)
            for call in watcher.seen[added.n_seen :]
            for kind in [of.get(id(call))]
            if kind and call.sizes[1] == added.n_positions
        ]
        sides = [_side(kinds[kind].role, has_two) for _, kind in fitting]
        if len(set(sides)) > 1:  # both are as long: which of them reads the sum?
            readers = [at for at, (call, _) in enumerate(fitting) if _reads(call, added.total)]
            start = readers[0] if readers else 0
            sides, fitting = sides[start:], fitting[start:]
        for side, (call, kind) in zip(sides, fitting, strict=True):
            if side not in result and id(call) not in first:  # it is added between layers
                break
            if _is_better(added, result.get(side)):
                result[side] = added, kind
                break
    return result


def _reads(call: Seen, states: Tensor) -> bool:
    """Tell whether matrices before a call read the first row of states [T, D], or a norm of it."""
    row = states[:1].float()
    read = [] if call.trace is None else [each.states.first for each in call.trace.reads]
    return any(
        each.shape == form.shape and torch.allclose(each.float(), form, rtol=1e-3, atol=1e-5)
        for form in (made[0] for made in forms(row, row.size(-1), call.place.norms))
        for each in read
    )


def has_two_sides(kinds: Mapping[str, Kind]) -> bool:
    """Tell whether a source and a target are read: else there is one text."""
    roles = {kind.role for kind in kinds.values()}
    return "cross" in roles or {"encoder_self", "decoder_self"} <= roles


def _side(role: str | None, has_two: bool) -> str:
    if not has_two:
        return "text"
    return "target" if role in ("decoder_self", "cross") else "source"


def _is_better(added: Added, before: tuple[Added, str] | None) -> bool:
    """The first; of a single token, any row may be a place: then the row of the largest table."""
    if before is None:
        return True
    first, _ = before
    is_one = first.n_positions == 1 and first.n_seen == added.n_seen
    return is_one and len(added.rows.table) > len(first.rows.table)


@dataclass(frozen=True, eq=False)
class _Layer:
    """One layer's turning, as it was measured."""

    number: int
    turned: Turned
    d_head: int
    sort: str
    """The sort of layer, where frequencies are held for each; else empty."""


Rotaries = tuple[dict[str, Rotary], dict[str, str]]
"""Name -> the layers of one kind that turn alike; kind in words -> why others are not known."""


def _rotary(
    watcher: Watcher,
    kinds: Mapping[str, Kind],
    attentions: Mapping[str, Attention],
    used: set[int],
    held: Sequence[Guess],
) -> Rotaries:
    """used: tables that were added to a sequence, which turn nothing."""
    result: dict[str, Rotary] = {}
    unknown: dict[str, str] = {}
    d_head = max((_d_head(each.calls[0]) for each in attentions.values()), default=0)
    measuring = _Measuring(watcher, held, used, d_head)
    for kind, each in kinds.items():
        if each.role == "cross":
            continue
        layers, missing = list[_Layer](), dict[str, list[int]]()
        sorts = measuring.sorts(each.calls)
        for number, call in enumerate(each.calls):
            turned = measuring.of_layer(call)
            own = [turned, OTHERS if call.has_others else None]
            for reason in own:
                if isinstance(reason, str):
                    missing.setdefault(reason, []).append(attentions[kind].number(number))
            if isinstance(turned, Turned):
                d_head = _d_head(attentions[kind].calls[number])
                layers.append(_Layer(number, turned, d_head, sorts[number]))
        title = kind.replace("_", " ")
        groups = sorted(_alike(layers), key=lambda group: measuring.held_sorts.index(group[0].sort))
        result |= _named(title, kind, groups)
        if missing:
            unknown[title] = _in_words(missing, len(each.calls))
    return result, unknown


def _alike(layers: Sequence[_Layer]) -> list[list[_Layer]]:
    """Group the layers that turn alike: each may hold frequencies of its own (GPT-J)."""
    groups: list[list[_Layer]] = []
    for layer in layers:
        for group in groups:
            one, other = group[0].turned, layer.turned
            is_same = one.positions == other.positions and one.factor == other.factor
            is_same = is_same and group[0].sort == layer.sort
            if is_same and _are_close(one.frequencies, other.frequencies):
                group.append(layer)
                break
        else:
            groups.append([layer])
    return groups


def _are_close(one: Tensor, other: Tensor) -> bool:
    """Tell whether frequencies are the same, but for what measuring them leaves open."""
    return one.shape == other.shape and torch.allclose(
        one.double(), other.double(), rtol=1e-3, atol=1e-6
    )


def _named(
    title: str, kind: str, groups: Sequence[Sequence[_Layer]]
) -> Iterator[tuple[str, Rotary]]:
    """Name groups of layers by their sort, and where several are of one by their first layer."""
    sorts = [group[0].sort for group in groups]
    for group, sort in zip(groups, sorts, strict=True):
        first, layers = group[0].turned, tuple(layer.number for layer in group)
        name = f"{title}, {sort.replace('_', ' ')}" if sort else title
        name = name if sorts.count(sort) == 1 else f"{name}, from L{layers[0]}"
        yield (
            name,
            Rotary(kind, layers, first.frequencies, group[0].d_head, first.factor, first.positions),
        )


def _in_words(missing: Mapping[str, Sequence[int]], n_layers: int) -> str:
    """A clause for each reason, with the layers that it is about, unless it is about all."""
    parts = []
    for reason, layers in missing.items():
        where = ", ".join(f"L{layer}" for layer in layers)
        parts.append(reason if len(layers) == n_layers else f"in {where} {reason}")
    return "; ".join(parts)


class _Measuring:
    """Measures how the queries and keys of calls were turned."""

    def __init__(
        self, watcher: Watcher, held: Sequence[Guess], used: set[int], d_head: int
    ) -> None:
        self._watcher, self._used, self._d_head = watcher, used, d_head
        self._held = [each for each in held if _may_be_frequencies(each.frequencies)]
        self.held_sorts = [*dict.fromkeys([*(each.sort for each in self._held), ""])]
        """The sorts of layers that frequencies are held for, and none."""
        self._layouts: list[Layout] = []
        """The layouts of earlier layers, the latest first: layers are alike."""
        self._is_brief = False

    @cached_property
    def _guesses(self) -> list[Guess]:
        """Frequencies that modules hold and those of angles of the pass, else those of tables."""
        angles = (frequencies_of_angles(each) for each in self._watcher.turns.angles)
        first = [*self._held, *(Guess(it.abs()) for it in angles if it is not None)]
        if first:
            return first
        held = [
            each
            for module in self._watcher.modules
            for each in held_by(module)
            if _may_turn(each, self._used, self._d_head)
        ]
        tables = (frequencies_of(each, other) for each in held for other in (None, *held))
        return [Guess(it.abs()) for it in tables if it is not None]

    def of_layer(self, call: Seen) -> Turned | str | None:
        """Measure a layer; None: nothing turns in it; a clause where that is not known."""
        of_parts = [self._of_call(part) for part in call.parts or (call,)]
        first, *others = of_parts
        if all(_are_one(first, other) for other in others):
            return first
        reasons = (it for it in of_parts if isinstance(it, str))
        return next(reasons, "its heads turn in different ways")

    def _of_call(self, call: Seen) -> Turned | str | None:
        ends = call.ends
        if ends is None:  # torch has made its queries and keys itself, or there is no product
            return None
        heads = _heads(call, ends)
        if heads is None or ends.n_rows < 2:
            return (ONE_TOKEN if ends.n_rows < 2 else UNTRACED) if self._may_turn else None
        close = CLOSE.get(heads[0].dtype, CLOSE[torch.float32])
        rows = [each.result().cpu() for each in ends.reads]
        turns = [self._turn(each.cpu(), rows, ends.norms, close) for each in heads]
        of_q, of_k = turns
        if of_q is None or of_k is None:
            return UNTRACED if self._may_turn else None
        if of_q.is_still and of_k.is_still:
            return None
        if of_q.is_still or of_k.is_still:
            return ONE_TURNS.format(*("keys", "queries") if of_q.is_still else ("queries", "keys"))
        if not of_q.is_even or not of_k.is_even:
            return SCALED
        places = ends.places
        if not are_alike(of_q, of_k, close):
            return DIFFERENT
        turned = turned_by(of_k, places, self._guesses, close)
        return OTHER_ANGLES if turned is None else turned

    def _turn(
        self, heads: Tensor, rows: Sequence[Tensor], norms: Sequence[Norm], close: Close
    ) -> Turn | None:
        """Measure heads as a matrix gave them, or else after one of the norms that stand there."""
        d_head = heads.size(-1)
        is_brief = self._is_brief
        turn = turn_of(heads, rows, self._layouts, close, is_brief=is_brief)
        if norms and (turn is None or not turn.is_even):
            normed = (it for each in rows for it in forms(each, d_head, norms))
            turn = turn_of(heads, normed, self._layouts, close, is_brief=is_brief) or turn
        self._is_brief = turn is None  # what one layer does not show others hardly do
        if turn is not None and not turn.is_still:
            self._layouts = [turn.layout, *self._layouts]
        return turn

    @cached_property
    def _may_turn(self) -> bool:
        """Tell whether the model holds frequencies, or the pass has made some."""
        return bool(self._guesses)

    def sorts(self, calls: Sequence[Seen]) -> list[str]:
        """Give the sort of each layer, where frequencies are held for it; else nothing."""
        configs = (getattr(module, "config", None) for module in self._watcher.modules)
        lists = (getattr(each, "layer_types", None) for each in configs)
        types = next((each for each in lists if each), None)
        sorts = (_type_of(call.place.path, types) or "" for call in calls)
        return [sort if sort in self.held_sorts else "" for sort in sorts]


UNTRACED = "it could not be measured whether queries and keys turn with the position"
OTHERS = (
    "products with other vectors than the text's queries and keys are added to the scores, as "
    "DeBERTa and Transformer-XL add those with embeddings of distances"
)
ONE_TOKEN = "a single token does not show whether queries and keys turn with the position"
ONE_TURNS = "{} turn with the position and {} do not, so that scores are of no distance"
SCALED = "queries and keys turn with the position and are scaled by it as well (as by xPos)"
DIFFERENT = "queries and keys turn by different angles, so that scores are of no distance"
OTHER_ANGLES = (
    "queries and keys turn by angles that are not in proportion to one position each (as learned "
    "angles, and those of two axes of a picture, are not)"
)


def _heads(call: Seen, ends: Ends) -> tuple[Tensor, Tensor] | None:
    """The rows that are kept of a call's queries and keys [H, N, d]; None: it does not have them"""
    both = ends.both
    if both is None:
        made = call.make()
        of = (last_rows(each, ends.n_rows) for each in (made.q, made.k))
        q, k = of if made.knows_scores else (None, None)
        both = None if q is None or k is None else (q, k)
    return None if both is None else (_folded(both[0]), _folded(both[1]))


def _folded(heads: Tensor) -> Tensor:
    """[..., N, d] -> [H, N, d]"""
    return heads.reshape(-1, *heads.shape[-2:])


def _are_one(one: Turned | str | None, other: Turned | str | None) -> bool:
    if isinstance(one, Turned) and isinstance(other, Turned):
        return _are_close(one.frequencies, other.frequencies) and one.positions == other.positions
    return one == other


def held_frequencies(watcher: Watcher) -> Iterator[Guess]:
    """Yield what modules hold that may be frequencies, as it is now."""
    for module in watcher.modules:
        for name, tensor in (*module._buffers.items(), *own_attributes(module).items()):
            if isinstance(tensor, Tensor) and tensor.dim() == 1 and tensor.is_floating_point():
                of = name.removesuffix(_FREQUENCIES).rstrip("_") if _FREQUENCIES in name else ""
                scaling = "_".join(filter(None, (of, "attention_scaling")))
                factor = float(getattr(module, scaling, 1.0))
                yield Guess(tensor.detach().to("cpu", copy=True), factor, of)


def _may_be_frequencies(values: Tensor) -> bool:
    """Tell whether numbers [n] fall from pair to pair, as those of no norm do."""
    if values.numel() < 2:
        return bool((values > 0).any())
    return bool((values >= 0).all() and (values.diff() <= 0).all() and values[-1] < values[0])


def _may_turn(table: Tensor, used: set[int], d_head: int) -> bool:
    """Tell whether it may be a table of turns [..., P, n], which nothing was added of."""
    width = table.size(-1)
    is_table = table.numel() == max(table.shape[:-1]) * width and table.size(-2) >= _FEW
    is_number = table.is_floating_point() or table.is_complex()
    return is_table and is_number and width <= d_head and storage(table) not in used


def _type_of(path: str, types: Any) -> str | None:
    """The sort of a layer, by the first number in its path."""
    number = re.search(r"(?:^|\.)(\d+)(?:\.|$)", path)
    if number is None or not isinstance(types, list | tuple) or int(number[1]) >= len(types):
        return None
    return str(types[int(number[1])])


def _d_head(call: AttentionCall) -> int:
    """Width of queries; where they are not known, that of values."""
    return call.q.size(-1) or call.v.size(-1)
