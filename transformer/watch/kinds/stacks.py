"""Stacks of layers: the calls of a pass put in order, and what a module reads of what it gave."""

import re
import threading
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from typing import Any

from torch import Tensor, nn

from transformer.recording import Unseen
from transformer.recording.origin import Origin
from transformer.watch.calls.layer import side_by_side
from transformer.watch.calls.seen import Seen
from transformer.watch.calls.watcher import Watcher
from transformer.watch.capture.operators import Functions, as_written
from transformer.watch.kinds.kind import ROLES, Kind, is_partial, kind_of, name_of, numbers_of, stem

# Stacks of layers: the calls of a pass put in order, as kinds with one call per layer.
#
# A kind whose role nothing tells keeps a name of its own, and never takes one of ours.


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


# Descent of what a module reads from what it gave before, where one runs several times in a pass.
#
# A block that runs over what it gave is several layers; one that runs over something else has
# read another text. The model runs once more for it, with every function of torch followed, and
# only where it read none or several texts: with one, all runs are layers.

Run = tuple[str, int]
"""A module's path, and the number of its run."""


class Descent:
    """Follows what modules give, while entered."""

    def __init__(self, model: nn.Module, paths: Iterable[str]) -> None:
        self.runs: dict[str, list[int]] = {path: [] for path in paths}
        """Path -> for each run, the latest run that gave what it read; -1: none did."""
        self._made_of: dict[int, tuple[weakref.ref[Tensor], frozenset[Run]]] = {}
        self._hooks = ExitStack()
        self._model, self._thread = model, threading.get_ident()  # others may run it, too

    def __enter__(self) -> "Descent":
        self._hooks.enter_context(as_written())
        for path in self.runs:
            module = self._model.get_submodule(path)
            before = module.register_forward_pre_hook(self._reads(path), with_kwargs=True)
            after = module.register_forward_hook(self._gives(path))
            self._hooks.callback(before.remove)
            self._hooks.callback(after.remove)
        self._hooks.enter_context(Functions(self._follow))
        return self

    def __exit__(self, *error: Any) -> None:
        self._hooks.close()

    def _follow(self, func: Callable[..., Any], args: Sequence[Any], kwargs: Any) -> Any:
        result = func(*args, **kwargs)
        runs = self._runs_of([args, kwargs])
        if runs:
            self._put([args[0] if result is None else result], runs)  # what was written to
        return result

    def _runs_of(self, values: Any) -> frozenset[Run]:
        result: frozenset[Run] = frozenset()
        for tensor in _tensors(values):
            reference, runs = self._made_of.get(id(tensor), (None, frozenset()))
            if reference is not None and reference() is tensor:
                result |= runs
        return result

    def _put(self, values: Any, runs: frozenset[Run]) -> None:
        """Only numbers descend: ids that were chosen are a text of their own."""
        made_of = self._made_of
        for tensor in _tensors(values):
            if tensor.is_floating_point():
                for each in (tensor, tensor._base):
                    if each is not None:
                        made_of[id(each)] = (weakref.ref(each), self._runs_of([each]) | runs)

    def _reads(self, path: str) -> Callable[..., None]:
        def before(module: nn.Module, args: Any, kwargs: Mapping[str, Any]) -> None:
            if threading.get_ident() != self._thread:
                return
            direct = [it for it in (*args, *kwargs.values()) if isinstance(it, Tensor)]
            numbers = [number for own, number in self._runs_of(direct) if own == path]
            self.runs[path].append(max(numbers, default=-1))

        return before

    def _gives(self, path: str) -> Callable[..., None]:
        def after(module: nn.Module, args: Any, output: Any) -> None:
            if threading.get_ident() == self._thread:
                self._put([output], frozenset({(path, len(self.runs[path]) - 1)}))

        return after


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Mapping):
        yield from _tensors(list(value.values()))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _tensors(each)


def settle(model: nn.Module, seen: Sequence[Seen], run: Callable[[Descent], object]) -> None:
    """Note in the calls of a pass which text each has read, where that takes another pass.

    run: runs the model over the same once more while that is entered.
    """
    paths = repeated(seen)
    if paths:
        descent = Descent(model, paths)
        run(descent)
        tell_apart(seen, descent.runs)


def repeated(seen: Sequence[Seen]) -> list[str]:
    """List modules that ran several times in one reading, with no or several texts read by then.

    A decoder may have the matrices of its encoder: that it is causal tells them apart. Two
    sequences that read each other by one module are told apart by their roles.
    """
    runs: dict[tuple[str, tuple[int, ...], bool], set[int]] = defaultdict(set)
    doubtful = set()
    for call in seen:
        if call.reads_another:
            continue
        runs[call.place.path, call.place.reading, call.is_causal].add(call.place.run)
        if call.trace is not None and call.trace.text != 1:
            doubtful.add(call.place.path)
    paths = (path for (path, *_), each in runs.items() if path in doubtful and len(each) > 1)
    return list(dict.fromkeys(paths))


def tell_apart(seen: Sequence[Seen], runs: Mapping[str, Sequence[int]]) -> None:
    """Note in calls which text their modules had read, by what their runs descend from."""
    for path, parents in runs.items():
        calls = [call for call in seen if call.place.path == path]
        numbers = sorted({call.place.run for call in calls})
        if len(numbers) != len(parents):  # it also runs without attention
            continue
        texts: list[int] = []
        for parent in parents:
            texts.append(max(texts, default=-1) + 1 if parent < 0 else texts[parent])
        wholes = {id(it.whole): it.whole for it in calls if it.whole is not None}
        for call in (*calls, *wholes.values()):
            text = texts[numbers.index(call.place.run)]
            call.place = replace(call.place, reading=(*call.place.reading, text))
            if call.trace is not None:
                call.trace = call.trace._replace(text=text)


# Modules that ran, look like attention and were not understood: they are named, not left out.

PICKED = "it picks queries or keys, so which positions they stand for is not known"
BLOCKS = "its attention runs over blocks of the sequence"
CHUNKS = "its attention is computed in chunks of its queries, which are not put together"
FIRST = (
    "with batch_first={} it read {} sequences of 1 position: if they are one sequence, make it "
    "with batch_first={}, or give it both axes the other way round"
)
SOFTMAX = "a softmax over products of activations met no values that are understood"
AXIS = "its softmax does not run over the keys that values are given for"
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
