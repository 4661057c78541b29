"""Names of kinds whose role says too little: short, from the paths of their modules."""

from collections.abc import Mapping, Sequence
from itertools import chain, count

from transformer.watch.kinds.kind import ROLES, Kind, stem


def name_of(kind: Kind, stems: Sequence[Sequence[str]], taken: Mapping[str, Kind]) -> str:
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
    own, place = stem(kind), kind.calls[0].place
    n_shared = 0
    while len({tuple(stem[: n_shared + 1]) for stem in stems}) == 1 and n_shared < len(own):
        n_shared += 1
    if n_shared < len(own):
        return own[n_shared]
    is_named = len(own) > 1 and not place.path.split(".")[-1].isdecimal()
    return own[-1] if is_named else place.name
