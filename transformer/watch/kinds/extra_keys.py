"""Keys that are no words: a module adds them, or they stand before the text, as prefixes do."""

from transformer.recording.origin import Origin
from transformer.token import Token
from transformer.watch.calls.seen import Seen

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
        return (*tokens, *(Token(-1, name, special=True) for name in seen.added))
    first = _first_word(seen) if n_queries == len(tokens) else None
    if first is None or first > n:
        return None
    return (*(UNNAMED,) * first, *tokens, *(UNNAMED,) * (n - first))


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
