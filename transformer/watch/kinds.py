"""Which attention a call is: an encoder's own, a decoder's own, or from one to the other.

Nothing is registered, so this goes by evidence, strongest first: what the call itself or the
arguments of its module say of where keys come from, names in the module's path, causality, sizes.
"""

import re
from collections.abc import Sequence

from transformer.watch.seen import Seen

_CROSS = re.compile(r"cross|enc_?dec|enc(oder)?_att|src_att", re.IGNORECASE)
_DECODER = re.compile(r"(^|[._])dec", re.IGNORECASE)


def by_kind(seen: Sequence[Seen]) -> dict[str, list[Seen]]:
    """kind -> its calls, one per layer, in the order of calling.

    All layers of a kind have the same H, Q and K. Calls of other sizes are kinds of their own,
    named after their place and size: a model may have two towers, or shorten what it reads.
    """
    groups: dict[tuple[str, tuple[int, int, int]], list[Seen]] = {}
    for call in seen:
        kind = kind_of(call, seen)
        name = f"{kind.removesuffix('_self')} softmax" if call.is_softmax else kind
        groups.setdefault((name, call.sizes), []).append(call)
    kinds: dict[str, list[Seen]] = {}
    for (kind, sizes), calls in groups.items():
        kinds[_title(kind, sizes, calls) if kind in kinds else kind] = calls
    ours = [kind for kind in ("encoder_self", "decoder_self", "cross") if kind in kinds]
    return {kind: kinds[kind] for kind in (*ours, *kinds)}


def kind_of(call: Seen, seen: Sequence[Seen]) -> str:
    """ "encoder_self", "decoder_self" or "cross", of one of the calls seen in a pass."""
    if _is_cross(call, seen):
        return "cross"
    is_decoder = call.is_causal or call.place.is_causal or _DECODER.search(call.place.path)
    return "decoder_self" if is_decoder or _is_cached(call) else "encoder_self"


def _is_cross(call: Seen, seen: Sequence[Seen]) -> bool:
    if call.reads_another is not None and (call.reads_another or _same_length(call)):
        return call.reads_another and not call.is_causal
    if call.is_causal:
        return False
    if any(_CROSS.search(part) for part in call.place.path.split(".")):
        return True
    if _same_length(call) or call.place.is_causal:
        return False
    return not _is_cached(call) or _is_beside_another(call, seen)


def _is_beside_another(call: Seen, seen: Sequence[Seen]) -> bool:
    """Whether the pass shows where other keys come from: a sequence that reads itself.

    Either that of the keys, or that of the queries, which then has no keys of earlier passes.
    """
    return any(_same_length(each) and each.sizes[1] in call.sizes[1:] for each in seen)


def _is_cached(call: Seen) -> bool:
    """Whether keys of earlier passes may stand before those of the queries."""
    _, n_queries, n_keys = call.sizes
    return n_queries == 1 < n_keys


def _same_length(call: Seen) -> bool:
    """Whether the keys may be those of the queries, with at most one that the module adds."""
    return call.sizes[2] - call.sizes[1] in (0, 1) and not _is_cached(call)


def _title(kind: str, sizes: tuple[int, int, int], calls: list[Seen]) -> str:
    """What people read where a name of ours would be that of another one's."""
    stem = re.split(r"\.?\d", calls[0].place.path)[0]
    n_heads, n_queries, n_keys = sizes
    return f"{kind} in {stem or 'model'}, {n_queries}×{n_keys}, {n_heads} heads"
