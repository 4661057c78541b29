"""Modules that ran, look like attention and were not understood: they are named, not left out."""

import re
from collections.abc import Iterator
from functools import cache

from torch import nn

from transformer.recording import Unseen
from transformer.watch.calls.watcher import Watcher
from transformer.watch.kinds.stacks import blocks, pattern_of

PICKED = "it picks queries or keys, so which positions they stand for is not known"
BLOCKS = "its attention runs over blocks of the sequence"
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
    wrapper = _wrapper(watcher)
    for path, why in _unseen(watcher):
        result.setdefault(pattern_of(path.removeprefix(wrapper)), why)
    return tuple(Unseen(path or "the model", why) for path, why in result.items())


def _unseen(watcher: Watcher) -> Iterator[tuple[str, str]]:
    partial = [(call.place.path, call.is_picked) for call in blocks(watcher.seen)]
    named = {*(path for path, _ in partial), *watcher.windows}
    yield from ((path, PICKED if is_picked else BLOCKS) for path, is_picked in partial)
    for path, (n, n_queries) in watcher.windows.items():
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


def _wrapper(watcher: Watcher) -> str:
    """The start of every path: modules that hold one other and are no news to anybody."""
    module, start = next(iter(watcher.modules)), ""
    while len(module._modules) == 1:
        ((name, inner),) = module._modules.items()
        if inner is None or name.isdecimal():
            break
        module, start = inner, f"{start}{name}."
    return start


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
