"""Roles of calls: encoder's or decoder's self-attention, or cross-attention.

Nothing is registered, so this goes by evidence, strongest first: what the call itself or the
arguments of its module say of where keys come from, names in the module's path, causality, sizes.
"""

import re
from collections.abc import Sequence

from transformer.recording.origin import Origin
from transformer.watch.calls.seen import Seen

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
