"""Stacks of layers: the calls of a pass put in order, and what a module reads of what it gave."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache

from torch import nn

from transformer.recording import Unseen
from transformer.recording.origin import Origin
from transformer.watch.calls.layer import side_by_side
from transformer.watch.calls.seen import Seen
from transformer.watch.calls.watcher import Watcher
from transformer.watch.kinds.descent import Descent, are_ids, chains, descend
from transformer.watch.kinds.kind import (
    ROLES,
    Kind,
    is_partial,
    kind_of,
    maybe_encoder,
    name_of,
    numbers_of,
    stem,
)

# Stacks of layers: the calls of a pass put in order, as kinds with one call per layer.
#
# A kind whose role nothing tells keeps a name of its own, and never takes one of ours.


def by_kind(seen: Sequence[Seen]) -> dict[str, Kind]:
    """Name -> kind.

    Calls of other sizes are kinds of their own: a model may have two towers, or shorten what it
    reads. So are several calls of a layer, unless they are its heads.
    """
    kinds = _stacked(each for kind in _kinds(seen) for each in _apart(kind))
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
    return _of_own_texts({kind: named[kind] for kind in (*ours, *named)})


def blocks(seen: Sequence[Seen]) -> list[Seen]:
    """Calls that cover a part of what their module read: nothing says which keys are whose."""
    return [call for layer in _layers(seen) for call in layer if _is_block(call, layer)]


@lru_cache(maxsize=4096)
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
            pattern, is_another = pattern_of(call.place.path), bool(call.reads_another)
            parts[pattern, call.sizes, call.is_softmax, is_another].append(call)
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
    """Say in sentences that the model read several texts in one pass; nothing where it did not."""
    n = max((kind.reading for kind in kinds.values()), default=0) + 1
    others = [name for name, kind in kinds.items() if kind.is_other]
    unsettled = [
        name
        for name, kind in kinds.items()
        if any(call.lineage is None for call in kind.calls) and _are_open(kind.calls)
    ]
    notes = []
    if n > 1:
        notes.append(
            f"Some of its modules ran {n} times in this pass, not over what they gave before: "
            "tokens are those of the first time, and what is of another text is numbered."
        )
    if others:
        notes.append(
            f"{' and '.join(others)} read{'s' * (len(others) == 1)} other inputs than what is "
            "named: the positions there are numbered."
        )
    if unsettled:
        notes.append(
            "The pass was not followed from layer to layer, so it is not known whether the layers "
            f"of {' and '.join(unsettled)} ran one after the other, over one text."
        )
    return tuple(notes)


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
    """Calls of one layer, each of one head and with a W_O of its own, are its heads."""
    are_heads = all(call.projection is not None and call.sizes[0] == 1 for call in calls)
    if len(calls) > 1 and are_heads and _ask_alike(calls):
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
            calls = sorted((*stack.calls, *kind.calls), key=lambda it: it.place.run)
            is_one = not stack.stack and not kind.stack and len(chains(calls)) == 1
            if is_one and not set(map(numbers_of, kind.calls)) & set(map(numbers_of, stack.calls)):
                stack.calls[:] = calls
                break
        else:
            stacks.append(kind)
    return stacks


def _apart(kind: Kind) -> list[Kind]:
    """Stacks of a kind that ran side by side, as the models of an ensemble do."""
    stacks = chains(kind.calls)
    if len(stacks) == 1:
        return [kind]
    columns = zip(*(zip(*map(_prefixes, calls), strict=False) for calls in stacks), strict=False)
    own = (of for of in columns if all(len(set(each)) == 1 for each in of))
    names = next(([each[0] for each in of] for of in own if len(set(of)) == len(of)), None)
    return [
        replace(
            kind,
            calls=calls,
            stack="" if names is None else names[i],
            part=kind.part if names else (i, len(stacks)),
        )
        for i, calls in enumerate(stacks)
    ]


def _prefixes(call: Seen) -> list[str]:
    """Names of the modules around it that are numbered, the outermost first, as "models.0"."""
    parts = call.place.path.split(".")
    return [".".join(parts[max(i - 1, 0) : i + 1]) for i, it in enumerate(parts) if it.isdecimal()]


def _of_own_texts(named: Mapping[str, Kind]) -> dict[str, Kind]:
    """Leave without a role what reads other inputs than one that looks like it.

    Tokens are of the one that reads ids, or else of the first. A source is what an encoder reads
    itself, and cross-attention reads that.
    """
    owners: dict[object, frozenset[int]] = {}
    for kind in sorted(named.values(), key=lambda it: not any(map(are_ids, _texts(it)))):
        owners.setdefault((kind.role, kind.sizes[2]), _texts(kind))
    result = {}
    for name, kind in named.items():
        role = "encoder_self" if kind.role == "cross" else kind.role
        texts = _texts(kind)
        owner = owners.get((role, kind.sizes[2]), texts)
        is_other = role is not None and not (texts <= owner or owner <= texts)
        result[name] = replace(kind, role=None, is_other=True) if is_other else kind
    return result


def _texts(kind: Kind) -> frozenset[int]:
    """Numbers of the inputs that values of its first layer are made of."""
    lineage = kind.calls[0].lineage
    return frozenset(it for it in (() if lineage is None else lineage.values) if it < 0)


def settle(model: nn.Module, seen: Sequence[Seen], run: Callable[[Descent], object]) -> None:
    """Note in the calls of a pass what each was made of, where paths leave that open.

    run: runs the model over the same once more while what it is given is entered.
    """
    if _are_open(seen):
        descent = Descent(model)
        run(descent)
        descend(seen, descent)


def _are_open(seen: Sequence[Seen]) -> bool:
    """Tell whether paths leave open which calls are layers of one stack over one text.

    They do where numbered modules were given the same, where several sorts of modules look alike,
    and where a second text was read that no mask tells from the first; else lists tell.
    """
    sorts: dict[object, set[str]] = defaultdict(set)
    lists: dict[object, list[Seen]] = defaultdict(list)
    has_read_another = False
    for call in {id(it.whole or it): it.whole or it for it in seen if not it.is_softmax}.values():
        is_another, pattern = bool(call.reads_another), pattern_of(call.place.path)
        is_second = has_read_another or (call.trace is not None and call.trace.text > 1)
        if call.place.is_beside or (is_second and maybe_encoder(call)):
            return True
        sorts[call.sizes, call.is_causal, is_another].add(pattern)
        lists[pattern, is_another].append(call)
        has_read_another = has_read_another or is_another
    return any(len(each) > 1 for each in sorts.values()) or any(map(_is_open_list, lists.values()))


def _is_open_list(calls: Sequence[Seen]) -> bool:
    """Tell whether one module has several calls, or several numbers in their paths vary."""
    paths = {call.place.path for call in calls}
    columns = zip(*map(numbers_of, calls), strict=True)
    n_varied = sum(len(set(column)) > 1 for column in columns)
    return len(paths) < len(calls) or n_varied > 1


# Modules that ran, look like attention and were not understood: they are named, not left out.

PICKED = "it picks queries or keys, so which positions they stand for is not known"
BLOCKS = "its attention runs over blocks of the sequence"
CHUNKS = "its attention is computed in chunks of its queries, which are not put together"
FIRST = (
    "with batch_first={} it read {} sequences of 1 position: if they are one sequence, make it "
    "with batch_first={}, or give it both axes the other way round"
)
SOFTMAX = "a softmax over products of activations met no values that are understood"
AXIS = "its softmax runs over another axis than the last, and meets values in another way"
SUMS = "the weights of a query do not sum to 1"
NAMES = "it has queries, keys and values by name, and no attention of it was seen"
_WORDS = re.compile(r"proj(ection)?|lin(ear)?|layer|dense|fc|to|w(?=_?(q|k|v))|_|\d")
_ROLES = {"q": 0, "query": 0, "queries": 0, "k": 1, "key": 1, "keys": 1, "v": 2}
_ROLES |= {"value": 2, "values": 2}
_ALL = frozenset({0, 1, 2})
_FUSED = re.compile(r"qkv|query_?key_?value|c_attn", re.IGNORECASE)


def unseen(watcher: Watcher) -> tuple[Unseen, ...]:
    """Modules of a finished pass that left no call, those of all layers as one."""
    result: dict[str, str] = {}
    # The start of every path: modules that hold one other and are no news to anybody.
    module, start = next(iter(watcher.modules)), ""
    while len(module._modules) == 1:
        ((name, inner),) = module._modules.items()
        if inner is None or name.isdecimal():
            break
        module, start = inner, f"{start}{name}."
    wrapper = start
    for path, why in _unseen(watcher):
        result.setdefault(pattern_of(path.removeprefix(wrapper)), why)
    return tuple(Unseen(path or "the model", why) for path, why in result.items())


def _unseen(watcher: Watcher) -> Iterator[tuple[str, str]]:
    partial = blocks(watcher.seen)
    named = {*(call.place.path for call in partial), *watcher.windows}
    cut = {call.place.path for call in partial if not _is_chunk(call)}
    for call in partial:
        path = call.place.path
        yield path, PICKED if call.is_picked else BLOCKS if path in cut else CHUNKS
    modules = {path: module for module, path in watcher.modules.items()}
    for path, (n, n_queries) in watcher.windows.items():
        is_second = getattr(modules.get(path), "batch_first", None)
        if n_queries == 1 and isinstance(is_second, bool):
            yield path, FIRST.format(is_second, n, not is_second)
        else:
            yield path, f"{BLOCKS}: it reads one input as {n} of {n_queries} positions"
    yield from ((call.place.path, call.several) for call in watcher.seen if call.several)
    called = {call.place.path for call in watcher.seen}
    maps = {(call.place.path, *call.sizes[1:]) for call in watcher.seen}
    for origin in watcher.softmaxes:
        is_copy = (origin.path, *origin.sizes) in maps  # computed once more, to be shown
        if not origin.is_used and not is_copy:
            named.add(origin.path)
            yield origin.path, BLOCKS if origin.is_of_blocks else SOFTMAX
    for origin in watcher.turned_softmaxes:
        if not origin.is_used and origin.path not in called:
            named.add(origin.path)
            yield origin.path, AXIS
    for path in watcher.sums - named - called:
        named.add(path)
        yield path, SUMS
    names = named | called
    for module, path in watcher.modules.items():
        if _asks(module, watcher) and not any(_are_near(path, each) for each in names):
            yield path, NAMES


def _is_chunk(call: Seen) -> bool:
    """Tell whether it is of some queries over all keys that its module read."""
    _, n_queries, n_keys = call.sizes
    return n_queries < n_keys and n_keys in call.place.lengths


def _are_near(path: str, other: str) -> bool:
    """Tell whether one is within the other."""
    return f"{path}.".startswith(f"{other}.") or f"{other}.".startswith(f"{path}.") or not other


def _asks(module: nn.Module, watcher: Watcher) -> bool:
    """Tell whether its children are called queries, keys and values, and ran."""
    roles: set[int] = set()
    for name, child in module._modules.items():
        if child is not None and (own := _roles_of(name)) and watcher.has_run(child):
            roles |= own
    return roles == _ALL


@cache
def _roles_of(name: str) -> frozenset[int]:
    """Read the name of a linear layer: 0 queries, 1 keys, 2 values; all three of a fused one."""
    if _FUSED.search(name):
        return _ALL
    role = _ROLES.get(_WORDS.sub("", name.lower()))
    return frozenset() if role is None else frozenset({role})
