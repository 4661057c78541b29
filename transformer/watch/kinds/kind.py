"""One kind of attention in all layers: its role, its name, and the keys that are no words."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, count

import torch

from transformer.recording.calls import AttentionCall
from transformer.recording.origin import Origin
from transformer.token import Token
from transformer.watch.calls.seen import Seen
from transformer.watch.calls.sinks import SINK
from transformer.watch.capture.homes import MIXED, PATCHES, text_in

# One kind of attention in all layers, with one call per layer.

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

    stack: str = ""
    """The module that it is in, "models.0", where others ran beside it; empty where none did."""
    is_other: bool = False
    """True: it reads other inputs than another kind that looks like it."""

    @property
    def numbers(self) -> tuple[int, ...]:
        """The model's own numbers of these layers, in the order of running.

        They are the first ones in their paths that tell modules apart. Where it takes several,
        modules are counted in the order of their paths; one module in all layers counts its runs.
        """
        paths = [numbers_of(call) for call in self.calls]
        if len(set(paths)) == 1 < len(paths) or not all(paths):
            return tuple(range(len(paths)))
        columns = [it for it in zip(*paths, strict=False) if len(set(it)) > 1 or len(paths) == 1]
        telling = (it for it in columns if len(set(it)) == len(set(paths)))
        places = sorted(set(paths))
        return next(telling, tuple(places.index(each) for each in paths))


def numbers_of(call: Seen) -> tuple[int, ...]:
    """List the numbers in the path of its module."""
    return _numbers_in(call.place.path)


@lru_cache(maxsize=4096)
def _numbers_in(path: str) -> tuple[int, ...]:
    return tuple(int(part) for part in path.split(".") if part.isdecimal())


def stem(kind: Kind) -> list[str]:
    """Split its path in the model, without numbers."""
    return [part for part in kind.calls[0].place.path.split(".") if part and not part.isdecimal()]


# Roles of calls: encoder's or decoder's self-attention, or cross-attention.
#
# Nothing is registered, so this goes by evidence, strongest first: what the call itself or the
# arguments of its module say of where keys come from, names in the module's path, causality,
# sizes.

_CROSS = re.compile(r"cross|enc_?dec|enc(oder)?_att|src_att", re.IGNORECASE)

_DECODER = re.compile(r"(^|[._])dec", re.IGNORECASE)


def kind_of(call: Seen, seen: Sequence[Seen]) -> str | None:
    """The role of one of the calls that were seen in a pass; None where nothing tells."""
    if is_partial(call) or _reads_both(call) or _pools(call, seen):
        return None
    if _is_cross(call, seen):
        return "cross"
    is_decoder = call.is_causal or call.place.is_causal or _DECODER.search(call.place.path)
    if is_decoder or _is_cached(call) or _is_beside_cross(call, seen):
        return "decoder_self"
    if any(bool((it == MIXED).any()) for it in call.homes or ()):
        return None  # rows or columns that are no positions are no sequence that reads itself
    if call.is_followed:
        return "encoder_self"
    is_its_own = _same_length(call) and not _is_doubtful(call, seen)
    return "encoder_self" if is_its_own or _is_prefixed(call) else None


def _is_cross(call: Seen, seen: Sequence[Seen]) -> bool:
    queries, keys = texts_of(call)
    if queries is not None and keys is not None and queries != keys and queries < PATCHES:
        return not call.is_causal
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
    """Tell whether it is of the layers that read another sequence as well, those of a decoder.

    Where it is known what calls were made of: these ask or gave it, or it reads what they gave.
    Else its module does so.
    """
    crosses = [it for it in seen if it.is_followed and it.reads_another]
    if not call.is_followed and not _same_length(call):
        return False
    text, _ = texts_of(call)
    texts = [texts_of(it) for it in crosses]
    if text is not None and texts and all(None not in each for each in texts):
        asking_of, read_of = map(set, zip(*texts, strict=True))
        if not asking_of & read_of:  # else they read each other: no decoder
            return text in asking_of
    if call.lineage is not None and all(it.lineage is not None for it in crosses):
        own = [it.lineage for it in crosses if it.lineage is not None]
        read = set[int]().union(*(it.values for it in own))
        asking = {it.number for it in own}.union(*(it.made - it.values for it in own))
        if not read & asking:
            return bool(asking & {call.lineage.number, *call.lineage.made})
    return call.is_followed and any(it.place.path == call.place.path for it in crosses)


def texts_of(call: Seen) -> tuple[int | None, int | None]:
    """The texts that its rows and its columns are of; None: none, several, or not followed."""
    return (None, None) if call.homes is None else (text_in(call.homes[0]), text_in(call.homes[1]))


def _is_doubtful(call: Seen, seen: Sequence[Seen]) -> bool:
    """Tell whether nothing says which of several sequences its keys are of."""
    if call.reads_another is not None or call.is_followed:
        return False
    return not call.is_of_products or any(it.is_followed and it.reads_another for it in seen)


def _reads_both(call: Seen) -> bool:
    """Tell whether its keys are those of two sequences, one after the other."""
    lengths, n_keys = call.place.lengths, call.sizes[2]
    if not call.reads_another or len(lengths) != 1:
        return bool(call.reads_another) and len(lengths) == 2 and n_keys == sum(lengths)
    if n_keys != 2 * min(lengths) or call.trace is None:
        return False
    return Origin(call.make(), call.trace).is_another is False  # two sequences of one length


def _pools(call: Seen, seen: Sequence[Seen]) -> bool:
    """Tell whether one query of its own reads a sequence, which no name says is a decoder's."""
    if not call.reads_another or call.sizes[1] != 1:
        return False
    is_named = _DECODER.search(call.place.path) or _CROSS.search(call.place.path)
    return not is_named and not any(it.sizes[1] == 1 and not it.reads_another for it in seen)


def maybe_encoder(call: Seen) -> bool:
    """Tell whether neither a mask nor a name keeps self-attention from being an encoder's."""
    is_decoder = call.is_causal or call.place.is_causal or _DECODER.search(call.place.path)
    return not (is_decoder or call.reads_another)


def _is_beside_another(call: Seen, seen: Sequence[Seen]) -> bool:
    """Tell whether the pass shows two sequences of these lengths.

    The module was given both, or each of them reads itself somewhere.
    """
    itself = {each.sizes[1] for each in seen if _same_length(each) and not is_partial(each)}
    both = set(call.sizes[1:])
    return both <= call.place.lengths or both <= itself


def is_partial(call: Seen) -> bool:
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
    return n_queries == 1 < n_keys - len(call.added) and not _asks_others(call)


def _asks_others(call: Seen) -> bool:
    """Tell whether no key is made of what its one query is made of: that is learned, then."""
    if call.trace is None:
        return False
    origin = Origin(call.make(), call.trace)
    return bool(origin.queries and origin.columns) and origin.is_another is not False


def _same_length(call: Seen) -> bool:
    """Tell whether the keys may be those of the queries, with at most one that the module adds."""
    n_more = call.sizes[2] - call.sizes[1] - len(call.added)
    return n_more in (0, 1) and not _is_cached(call)


# Names of kinds whose role says too little: short, from the paths of their modules.


def name_of(kind: Kind, stems: Sequence[Sequence[str]], taken: Mapping[str, Kind]) -> str:
    """A short name: the first part of its path that tells it from the others, or its own."""
    name, (n_heads, n_queries, n_keys) = kind.stack or _told_apart(kind, stems), kind.sizes
    if kind.is_softmax:
        name = f"{(kind.role or name).removesuffix('_self')} softmax"
    if kind.stack and kind.role and name in taken:
        name += f" {kind.role.removesuffix('_self')}"
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


# Keys that are no words: a module adds them, or they stand before the text, as prefixes do.

UNNAMED = Token(-1, "unnamed", special=True)
"""A key that a model adds without a name of its own, or one of an earlier pass."""


def keys_of(
    tokens: tuple[Token, ...], seen: Seen, is_cached: bool = False
) -> tuple[Token, ...] | None:
    """Tokens of a text with those of the keys beside it, placed by the pass; None: unclear.

    Where there are fewer keys than tokens, they are the last ones if a cache has held them.
    """
    _, n_queries, n_keys = seen.sizes
    n = n_keys - len(tokens)
    if n <= 0:
        return tokens[-n:] if is_cached or n == 0 else None
    if n == len(seen.added):
        return (*tokens, *added_to(seen))
    first = _first_word(seen) if n_queries == len(tokens) else None
    if first is None or first > n:
        return None
    return (*(UNNAMED,) * first, *tokens, *_beside(seen, n - first))


def _beside(seen: Seen, n: int) -> Iterator[Token]:
    """Name the last n keys, which are no words: one whose values are all 0 is a sink."""
    v = seen.make().v  # [G, K, d]
    for key in range(v.size(1) - n, v.size(1)):
        is_sink = v.size(-1) > 0 and not bool(v[:, key].any())
        yield Token(-1, SINK, special=True) if is_sink else UNNAMED


def added_to(seen: Seen) -> tuple[Token, ...]:
    """Make tokens of the keys that its module is known to add behind those of the text."""
    return tuple(Token(-1, name, special=True) for name in seen.added)


def n_after(seen: Seen) -> int:
    """Count the keys that are known to stand after those of the words."""
    _, n_queries, n_keys = seen.sizes
    if seen.added or seen.reads_another or n_keys <= n_queries:
        return len(seen.added)
    return n_keys - n_queries if _first_word(seen) == 0 else 0


def _first_word(seen: Seen) -> int | None:
    """Find the key of the first query: made of the same states, or else as the mask has it."""
    _, n_queries, n_keys = seen.sizes
    n, call = n_keys - n_queries, seen.make()
    words = () if seen.trace is None else Origin(call, seen.trace).words
    if words:
        return n if n in words else words[0]
    if not seen.is_causal:
        return None
    first = call.allowed().any(0)[0]  # keys of the first query
    is_before = bool(first[: n + 1].all()) and not bool(first[-n:].all())
    return n if is_before else 0


# Rows that do not sum to 1, because weights were changed between their softmax and the values.

ROUGH = 0.02
"""A sum that is this near to 1 is 1: some models keep their weights in few bits."""
SUMS = (
    "Rows of {name} sum to {least} up to {largest}, as {why}: entropy and other numbers of heads "
    "are of such rows."
)


def notes_on_sums(kinds: Mapping[str, Kind]) -> tuple[str, ...]:
    """Say in a sentence of each kind what its rows sum to, where a model has changed them."""
    softmaxes = {id(it.softmax) for kind in kinds.values() for it in kind.calls if it.is_softmax}
    notes = []
    for name, kind in kinds.items():
        if kind.is_softmax or not any(id(call.softmax) in softmaxes for call in kind.calls):
            continue
        calls = [call.make() for call in kind.calls]
        note = note_on_sums(name, calls, "weights are changed between softmax and values")
        notes += [note] if note else []
    return tuple(notes)


def note_on_sums(name: str, calls: Iterable[AttentionCall], why: str) -> str:
    """Say what rows sum to, where that is not 1; "" where it is. why: a clause."""
    sums = torch.cat([call.weights().sum(-1)[call.allowed().any(-1)].cpu() for call in calls])
    least, largest = sums.aminmax() if len(sums) else (torch.ones(()), torch.ones(()))
    if max(1 - float(least), float(largest) - 1) <= ROUGH:
        return ""
    sums_to = {"least": f"{float(least):.2f}", "largest": f"{float(largest):.2f}"}
    return SUMS.format(name=name, why=why, **sums_to)
