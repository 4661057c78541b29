"""Kinds of attention, each with one call per layer: calls of a pass, put in order.

Nothing is registered, so this goes by evidence, strongest first: what the call itself or the
arguments of its module say of where keys come from, names in the module's path, causality, sizes.
What evidence does not tell keeps a name of its own, and never takes one of ours.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count, pairwise

from transformer.recording.origin import Origin
from transformer.watch.heads import side_by_side
from transformer.watch.seen import Seen

_CROSS = re.compile(r"cross|enc_?dec|enc(oder)?_att|src_att", re.IGNORECASE)
_DECODER = re.compile(r"(^|[._])dec", re.IGNORECASE)
ROLES = ("encoder_self", "decoder_self", "cross")


@dataclass(eq=False)
class Kind:
    """One kind of attention in all layers."""

    role: str | None
    """ "encoder_self", "decoder_self" or "cross"; None where nothing tells."""
    sizes: tuple[int, int, int]
    """H, Q and K of every call."""
    is_softmax: bool
    """True: it is what the softmax gave, where the values met something else."""
    part: tuple[int, int]
    """The place among the calls of a layer that nothing puts together, and their number."""
    reading: int = 0
    """The number of the pass over a text, where a model makes several in one; from 0."""
    calls: list[Seen] = field(default_factory=list)
    """One per layer, in the order of calling."""

    @property
    def numbers(self) -> tuple[int, ...]:
        """The model's own numbers of these layers: the first ones in their paths that differ."""
        columns = list(zip(*(_numbers(call) for call in self.calls), strict=False))
        if len(self.calls) > 1:
            columns = [column for column in columns if len(set(column)) > 1]
        numbers = columns[0] if columns else ()
        is_going_up = numbers and all(a < b for a, b in pairwise(numbers))
        return numbers if is_going_up else tuple(range(len(self.calls)))


def by_kind(seen: Sequence[Seen]) -> dict[str, Kind]:
    """Name -> kind.

    Calls of other sizes are kinds of their own: a model may have two towers, or shorten what it
    reads. So are several calls of a layer, unless they are its heads.
    """
    kinds = _stacked(_kinds(seen))
    stems = [_stem(kind) for kind in kinds]
    named: dict[str, Kind] = {}
    for kind in kinds:
        alike = [it for it in kinds if (it.role, it.sizes) == (kind.role, kind.sizes)]
        is_alone = kind.part == (0, 1) and not any(
            it is not kind for it in alike if not it.is_softmax
        )
        if kind.role is None or kind.is_softmax or kind.role in named or not is_alone:
            named[_name(kind, stems, named)] = kind
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
    return len(alike) > 1 and all(_is_partial(each) for each in alike)


def _heads_joined(calls: list[Seen]) -> list[Seen]:
    """Calls of one layer, each of which has a W_O of its own, are its heads."""
    if len(calls) > 1 and all(call.projection is not None for call in calls):
        whole = side_by_side(calls)
        return calls if whole is None else [whole]
    return calls


def _stacked(kinds: Iterable[Kind]) -> list[Kind]:
    """Layers of several sorts that alternate are one stack: no two have the same numbers."""
    stacks: list[Kind] = []
    for kind in kinds:
        for stack in stacks:
            same = (stack.role, stack.sizes, stack.is_softmax, stack.part)
            if kind.role is None or same != (kind.role, kind.sizes, kind.is_softmax, kind.part):
                continue
            if not set(map(_numbers, kind.calls)) & set(map(_numbers, stack.calls)):
                stack.calls.extend(kind.calls)
                break
        else:
            stacks.append(kind)
    return stacks


def kind_of(call: Seen, seen: Sequence[Seen]) -> str | None:
    """The role of one of the calls that were seen in a pass; None where nothing tells."""
    if _is_partial(call) or _reads_both(call) or _pools(call, seen):
        return None
    if _is_cross(call, seen):
        return "cross"
    is_decoder = call.is_causal or call.place.is_causal or _DECODER.search(call.place.path)
    if is_decoder or _is_cached(call) or _is_beside_cross(call, seen):
        return "decoder_self"
    if call.is_followed:
        return "encoder_self"
    is_its_own = _same_length(call) and not _is_doubtful(call, seen)
    return "encoder_self" if is_its_own or _is_prefixed(call) else None


def _is_cross(call: Seen, seen: Sequence[Seen]) -> bool:
    if call.is_followed:
        return bool(call.reads_another) and not call.is_causal
    if call.reads_another is not None and (call.reads_another or _same_length(call)):
        return call.reads_another and not call.is_causal
    if call.is_causal:
        return False
    if any(_CROSS.search(part) for part in call.place.path.split(".")):
        return True
    return not _same_length(call) and not call.place.is_causal and _is_beside_another(call, seen)


def _is_beside_cross(call: Seen, seen: Sequence[Seen]) -> bool:
    """Tell whether its module reads another sequence as well, which only a decoder's layer does."""
    return call.is_followed and any(
        it.place.path == call.place.path and it.is_followed and it.reads_another for it in seen
    )


def _is_doubtful(call: Seen, seen: Sequence[Seen]) -> bool:
    """Tell whether nothing says which of several sequences its keys are of."""
    if call.reads_another is not None or call.is_followed:
        return False
    return any(it.is_followed and it.reads_another for it in seen)


def _reads_both(call: Seen) -> bool:
    """Tell whether its keys are those of two sequences, one after the other."""
    lengths, n_keys = call.place.lengths, call.sizes[2]
    return bool(call.reads_another) and len(lengths) == 2 and n_keys == sum(lengths)


def _pools(call: Seen, seen: Sequence[Seen]) -> bool:
    """Tell whether one query of its own reads a sequence, which no name says is a decoder's."""
    if not call.reads_another or call.sizes[1] != 1:
        return False
    is_named = _DECODER.search(call.place.path) or _CROSS.search(call.place.path)
    return not is_named and not any(it.sizes[1] == 1 and not it.reads_another for it in seen)


def _is_beside_another(call: Seen, seen: Sequence[Seen]) -> bool:
    """Tell whether the pass shows two sequences of these lengths.

    The module was given both, or each of them reads itself somewhere.
    """
    itself = {each.sizes[1] for each in seen if _same_length(each) and not _is_partial(each)}
    both = set(call.sizes[1:])
    return both <= call.place.lengths or both <= itself


def _is_partial(call: Seen) -> bool:
    """Tell whether its queries are not one for each position of what its module was given."""
    return bool(call.place.lengths) and call.sizes[1] not in call.place.lengths


def _is_prefixed(call: Seen) -> bool:
    """Tell whether keys stand beside those that are made of what the queries are made of."""
    _, n_queries, n_keys = call.sizes
    is_all = n_queries >= max(call.place.lengths, default=0)  # not the few that read every word
    if n_keys <= n_queries or call.trace is None or not is_all:
        return False
    origin = Origin(call.make(), call.trace)
    others = set(origin.columns) - {each.states.number for each in origin.queries}
    return origin.is_another is False and (not others or n_keys - n_queries in origin.words)


def _is_cached(call: Seen) -> bool:
    """Tell whether keys of earlier passes may stand before those of the queries."""
    _, n_queries, n_keys = call.sizes
    return n_queries == 1 < n_keys - len(call.added)


def _same_length(call: Seen) -> bool:
    """Tell whether the keys may be those of the queries, with at most one that the module adds."""
    n_more = call.sizes[2] - call.sizes[1] - len(call.added)
    return n_more in (0, 1) and not _is_cached(call)


def _numbers(call: Seen) -> tuple[int, ...]:
    return tuple(int(part) for part in call.place.path.split(".") if part.isdecimal())


def _stem(kind: Kind) -> list[str]:
    """Split its path in the model, without numbers."""
    return [part for part in kind.calls[0].place.path.split(".") if part and not part.isdecimal()]


def _name(kind: Kind, stems: Sequence[Sequence[str]], taken: Mapping[str, Kind]) -> str:
    """A short name: the first part of its path that tells it from the others, or its own."""
    name, (n_heads, n_queries, n_keys) = _told_apart(kind, stems), kind.sizes
    if kind.is_softmax:
        name = f"{(kind.role or name).removesuffix('_self')} softmax"
    if kind.reading:
        name += f" pass {kind.reading + 1}"
    if kind.part[1] > 1:
        name += f" {kind.part[0] + 1}/{kind.part[1]}"
    if name in taken or name in ROLES or (kind.role in taken and not kind.is_softmax):
        name += f" {n_queries}×{n_keys}"
    if name in taken:
        name += f", {n_heads} heads"
    return next(it for it in chain([name], (f"{name} {i}" for i in count(2))) if it not in taken)


def _told_apart(kind: Kind, stems: Sequence[Sequence[str]]) -> str:
    own, place = _stem(kind), kind.calls[0].place
    n_shared = 0
    while len({tuple(stem[: n_shared + 1]) for stem in stems}) == 1 and n_shared < len(own):
        n_shared += 1
    if n_shared < len(own):
        return own[n_shared]
    is_named = len(own) > 1 and not place.path.split(".")[-1].isdecimal()
    return own[-1] if is_named else place.name
