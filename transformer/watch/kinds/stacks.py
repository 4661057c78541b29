"""Stacks of layers: the calls of a pass put in order, as kinds with one call per layer.

A kind whose role nothing tells keeps a name of its own, and never takes one of ours.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from transformer.recording.origin import Origin
from transformer.watch.calls.heads import side_by_side
from transformer.watch.calls.seen import Seen
from transformer.watch.kinds.kind import ROLES, Kind, numbers_of, stem
from transformer.watch.kinds.names import name_of
from transformer.watch.kinds.roles import is_partial, kind_of


def by_kind(seen: Sequence[Seen]) -> dict[str, Kind]:
    """Name -> kind.

    Calls of other sizes are kinds of their own: a model may have two towers, or shorten what it
    reads. So are several calls of a layer, unless they are its heads.
    """
    kinds = _stacked(_kinds(seen))
    stems = [stem(kind) for kind in kinds]
    named: dict[str, Kind] = {}
    for kind in kinds:
        alike = [it for it in kinds if (it.role, it.sizes) == (kind.role, kind.sizes)]
        is_alone = kind.part == (0, 1) and not any(
            it is not kind for it in alike if not it.is_softmax
        )
        if kind.role is None or kind.is_softmax or kind.role in named or not is_alone:
            named[name_of(kind, stems, named)] = kind
        else:
            named[kind.role] = kind
    ours = [kind for kind in ROLES if kind in named]
    return {kind: named[kind] for kind in (*ours, *named)}


def blocks(seen: Sequence[Seen]) -> list[Seen]:
    """Calls that cover a part of what their module read: nothing says which keys are whose."""
    return [call for layer in _layers(seen) for call in layer if _is_block(call, layer)]


def pattern_of(path: str) -> str:
    """A path with a star for every number."""
    return re.sub(r"(?<![^.])\d+(?![^.])", "*", path)


def _kinds(seen: Sequence[Seen]) -> Iterable[Kind]:
    layers = [[call for call in it if not _is_block(call, it)] for it in _layers(seen)]
    every = [call for layer in layers for call in layer]
    result: dict[tuple[object, ...], Kind] = {}
    which = _which(every)
    readings = _readings(every)
    for layer in layers:
        parts: dict[tuple[object, ...], list[Seen]] = defaultdict(list)
        for call in layer:
            parts[pattern_of(call.place.path), call.sizes, call.is_softmax].append(call)
        for (path, *_), calls in parts.items():
            joined = _heads_joined(calls)
            reading = readings[id(calls[0])]
            place = path, which.get(id(calls[0]), 0) if len(calls) == 1 else 0
            for i, call in enumerate(joined):
                role = None if reading else kind_of(call, every)
                kind = Kind(role, call.sizes, call.is_softmax, (i, len(joined)), reading)
                key = place, role, kind.sizes, kind.is_softmax, kind.part, reading
                result.setdefault(key, kind).calls.append(call)
    return result.values()


def _readings(calls: Sequence[Seen]) -> dict[int, int]:
    """id of a call -> how often its module had read another text before.

    What that was nobody said, so these calls are of no known role: tokens are of the first text.
    """
    texts: dict[str, dict[tuple[int, ...], int]] = defaultdict(dict)
    for call in calls:
        own = texts[call.place.path]
        own.setdefault(call.place.reading, len(own))
    return {id(call): texts[call.place.path][call.place.reading] for call in calls}


def notes_on_readings(kinds: Mapping[str, Kind]) -> tuple[str, ...]:
    """Say in a sentence that the model read several texts in one pass; nothing where it did not."""
    n = max((kind.reading for kind in kinds.values()), default=0) + 1
    if n == 1:
        return ()
    return (
        f"Some of its modules ran {n} times in this pass, each over a text of its own: tokens are "
        "those of the first, and the others are numbered.",
    )


def _which(calls: Sequence[Seen]) -> dict[int, int]:
    """id of a call -> the number of its matrices among those that its module attends with.

    A module that attends several times with matrices of their own does so in each layer, where
    there are several such modules. Where there is one, its matrices are the layers.
    """
    matrices: dict[str, dict[int, int]] = defaultdict(dict)
    paths: dict[str, set[str]] = defaultdict(set)
    for call in calls:
        paths[pattern_of(call.place.path)].add(call.place.path)
        if call.source.matrix is not None:
            numbers = matrices[call.place.path]
            numbers.setdefault(call.source.matrix, len(numbers))
    return {
        id(call): matrices[call.place.path][call.source.matrix]
        for call in calls
        if call.source.matrix is not None and len(paths[pattern_of(call.place.path)]) > 1
    }


def _layers(seen: Sequence[Seen]) -> list[list[Seen]]:
    """The calls of each layer, in the order of calling."""
    layers: list[list[Seen]] = []
    for call in seen:
        if call.whole is not None and call.whole.parts[-1] is not call:
            continue
        whole = call.whole or call
        goes_on = whole.goes_on or whole.is_softmax or (layers and _are_beside(whole, layers[-1]))
        if not goes_on:
            layers.append([])
        layers[-1].append(whole)
    return layers


def _are_beside(call: Seen, layer: Sequence[Seen]) -> bool:
    """Tell whether it reads what a layer's call has read: they are branches, not layers."""
    own = set() if call.trace is None else call.trace.states
    return bool(own) and any(it.trace is not None and it.trace.states == own for it in layer)


def _is_block(call: Seen, layer: Sequence[Seen]) -> bool:
    """Tell whether it is one of several of its module that cover a part each of what that read."""
    if call.is_block or call.is_picked:
        return True
    alike = [
        each
        for each in layer
        if not each.is_softmax and pattern_of(each.place.path) == pattern_of(call.place.path)
    ]
    return len(alike) > 1 and all(is_partial(each) for each in alike)


def _heads_joined(calls: list[Seen]) -> list[Seen]:
    """Calls of one layer, each of which has a W_O of its own, are its heads."""
    if len(calls) > 1 and all(call.projection is not None for call in calls) and _ask_alike(calls):
        whole = side_by_side(calls)
        return calls if whole is None else [whole]
    return calls


def _ask_alike(calls: Sequence[Seen]) -> bool:
    """Tell whether no two calls' queries are known to be made of other states."""
    origins = [Origin(call.make(), call.trace) for call in calls if call.trace is not None]
    numbers = [{read.states.number for read in each.queries} for each in origins]
    there = [each for each in numbers if each]
    return all(each & there[0] for each in there)


def _stacked(kinds: Iterable[Kind]) -> list[Kind]:
    """Layers of several sorts that alternate are one stack: no two have the same numbers."""
    stacks: list[Kind] = []
    for kind in kinds:
        for stack in stacks:
            same = (stack.role, stack.sizes, stack.is_softmax, stack.part)
            if kind.role is None or same != (kind.role, kind.sizes, kind.is_softmax, kind.part):
                continue
            if not set(map(numbers_of, kind.calls)) & set(map(numbers_of, stack.calls)):
                stack.calls.extend(kind.calls)
                break
        else:
            stacks.append(kind)
    return stacks
