"""Schemes by which a module tells its tokens apart by place, as one pass of it shows them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from transformer.positions.encodings import Rotary
from transformer.recording import Attention, AttentionCall, PositionalEncoding
from transformer.token import read_only
from transformer.watch.calls.seen import Seen
from transformer.watch.calls.watcher import Watcher
from transformer.watch.capture.tables import (
    Added,
    encoding_of,
    frequencies_of,
    frequencies_of_angles,
    held_by,
)
from transformer.watch.capture.tensors import own_attributes, storage
from transformer.watch.kinds.kind import Kind
from transformer.watch.kinds.stacks import by_kind

_FREQUENCIES = "inv_freq"
"""The name of the frequencies of rotary positions in Hugging Face's modules, and most others."""
_FEW = 16
"""Rows that a table of turns has at least."""


@dataclass(frozen=True, eq=False)
class PositionSchemes:
    """The two parts of a recording that say so; a bias on the scores is part of each call."""

    positions: Mapping[str, PositionalEncoding]
    rotary: Mapping[str, Rotary]


def position_schemes(
    watcher: Watcher, attentions: Mapping[str, Attention], inputs: Any = ()
) -> PositionSchemes:
    """Collect what a finished watcher saw of positions, and what the module holds of them.

    attentions: kind -> as recorded, of the kinds that `by_kind(watcher.seen)` names. inputs: what
    the module was given, a tensor, a tuple or a dict: ids among them are tokens, never positions.
    Nothing is computed before somebody looks into the two mappings; only frequencies are read at
    once, since a later pass may change them (longrope, dynamic scaling).
    """
    named = list(_named_sources(watcher))

    def added() -> Iterator[tuple[str, PositionalEncoding]]:
        return _encodings(watcher, by_kind(watcher.seen), attentions, token_inputs(inputs))

    def turning() -> Iterator[tuple[str, Rotary]]:
        used = {storage(each.table) for each in positions.values()}
        return _rotary(watcher, by_kind(watcher.seen), attentions, used, named)

    positions = Later(added)
    return PositionSchemes(positions, Later(turning))


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
    has_two = has_two_sides(kinds)
    result: dict[str, tuple[Added, str]] = {}
    for added in watcher.tables.encodings(token_inputs):
        for call in watcher.seen[added.n_seen :]:
            kind = of.get(id(call))
            side = _side(kinds[kind].role, has_two) if kind else ""
            if (
                not kind
                or call.sizes[1] != added.n_positions
                or not _is_better(added, result.get(side))
            ):
                continue
            result[side] = added, kind
            break
    return result


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
class _Source:
    """A place where a model keeps frequencies."""

    above: str
    """The path of the module above: the attentions below it turn so."""
    module: nn.Module
    name: str
    """The use of the frequencies, "sliding_attention" say; empty where they are for all."""
    frequencies: Tensor
    factor: float = 1.0
    """The factor of cosines and sines."""
    is_measured: bool = False
    """True: they were found in a table: then no cosines are made in a pass."""


def _rotary(
    watcher: Watcher,
    kinds: Mapping[str, Kind],
    attentions: Mapping[str, Attention],
    used: set[int],
    named: Sequence[_Source],
) -> Iterator[tuple[str, Rotary]]:
    """Name -> the layers of one kind that turn alike."""
    own = {name: kind.calls for name, kind in kinds.items() if kind.role != "cross"}
    sizes = {kind: _d_head(attentions[kind].calls[0]) for kind in own}
    turned = {id(watcher.seen[i]) for i in watcher.turns.turned if i < len(watcher.seen)}
    sources = named or _measured_sources(watcher, max(sizes.values(), default=0), used)
    for kind, calls in own.items():
        result: list[Rotary] = []
        names: list[str] = []
        for source in sources:
            asks = watcher.turns and not source.is_measured
            layers = _layers(source, calls, turned if asks else None)
            if not layers or 2 * source.frequencies.numel() > sizes[kind]:
                continue
            _merge(result, names, source, kind, layers, sizes[kind])
        for name, rotary in zip(names, result, strict=True):
            is_alone = names.count(name) == 1
            title = ", ".join([kind.replace("_", " "), *([name.replace("_", " ")] if name else [])])
            yield title if is_alone else f"{title}, from L{rotary.layers[0]}", rotary


def _merge(
    tables: list[Rotary],
    names: list[str],
    source: _Source,
    kind: str,
    layers: tuple[int, ...],
    d_head: int,
) -> None:
    """Every layer may hold frequencies of its own, the same in all of them (GPT-J)."""
    for i, table in enumerate(tables):
        if names[i] == source.name and torch.equal(table.frequencies, source.frequencies):
            tables[i] = replace(table, layers=tuple(sorted({*table.layers, *layers})))
            return
    tables.append(Rotary(kind, layers, source.frequencies, d_head, source.factor))
    names.append(source.name)


def _named_sources(watcher: Watcher) -> Iterator[_Source]:
    """Frequencies under their usual name, as they are now."""
    for module, path in watcher.modules.items():
        for name, tensor in (*module._buffers.items(), *own_attributes(module).items()):
            is_named = name.endswith(_FREQUENCIES) and "original" not in name
            if is_named and isinstance(tensor, Tensor) and tensor.dim() == 1:
                of = name.removesuffix(_FREQUENCIES).rstrip("_")
                scaling = "_".join(filter(None, (of, "attention_scaling")))
                factor = float(getattr(module, scaling, 1.0))
                above = _above(watcher, path)
                yield _Source(above, module, of, tensor.detach().clone(), factor)


def _measured_sources(watcher: Watcher, d_head: int, used: set[int]) -> list[_Source]:
    """Frequencies of tables that modules hold; else of angles that the pass has made."""
    result = []
    for module, path in watcher.modules.items():
        tables = [each for each in held_by(module) if _may_turn(each, d_head, used)]
        sources = (frequencies_of(each, other) for each in tables for other in (None, *tables))
        result += [
            _Source(_above(watcher, path), module, "", it, is_measured=True)
            for it in sources
            if it is not None
        ]
    if result:
        return result
    root = next(iter(watcher.modules))
    angles = (frequencies_of_angles(each) for each in watcher.turns.angles)
    return [_Source("", root, "", it) for it in angles if it is not None]


def _above(watcher: Watcher, path: str) -> str:
    """The path of the module that turns by what is held here: itself where it attends."""
    attends = any(call.place.path == path for call in watcher.seen)
    return path if attends else path.rpartition(".")[0]


def _may_turn(table: Tensor, d_head: int, used: set[int]) -> bool:
    width = table.size(-1)
    is_table = table.numel() == max(table.shape[:-1]) * width and table.size(-2) >= _FEW
    is_number = table.is_floating_point() or table.is_complex()
    return is_table and is_number and width <= d_head and storage(table) not in used


def _layers(source: _Source, calls: Sequence[Seen], turned: set[int] | None) -> tuple[int, ...]:
    """Find the calls that turn by it: those below, of its sort of layer, that were turned at all.

    turned: ids of the calls of which that is known; None: it cannot be told from this pass.
    """
    start = f"{source.above}." if source.above else ""
    types = getattr(getattr(source.module, "config", None), "layer_types", None)
    return tuple(
        layer
        for layer, call in enumerate(calls)
        if f"{call.place.path}.".startswith(start)
        and (not source.name or _type_of(call.place.path, types) == source.name)
        and (turned is None or any(id(each) in turned for each in call.parts or (call,)))
    )


def _type_of(path: str, types: Any) -> str | None:
    """The sort of a layer, by the first number in its path."""
    number = re.search(r"(?:^|\.)(\d+)(?:\.|$)", path)
    if number is None or not isinstance(types, list | tuple) or int(number[1]) >= len(types):
        return None
    return str(types[int(number[1])])


def _d_head(call: AttentionCall) -> int:
    """Width of queries; where they are not known, that of values."""
    return call.q.size(-1) or call.v.size(-1)
