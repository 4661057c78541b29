"""Keys that are no words: a module adds them, or they stand before the text, as prefixes do."""

from transformer.tokenizer import Token
from transformer.watch.seen import Seen

UNNAMED = Token(-1, "unnamed", special=True)
"""A key that a model adds without a name of its own, or one of an earlier pass."""


def keys_of(tokens: tuple[Token, ...], seen: Seen) -> tuple[Token, ...] | None:
    """Tokens of a text with those of the keys beside it, which the mask may place; None: unclear.

    Where there are fewer keys than tokens, they are the last ones.
    """
    _, n_queries, n_keys = seen.sizes
    n = n_keys - len(tokens)
    if n <= 0:
        return tokens[-n:]
    if n == len(seen.added):
        return (*tokens, *(Token(-1, name, special=True) for name in seen.added))
    if not seen.is_causal or n_queries != len(tokens):
        return None
    first = seen.make().allowed().any(0)[0]  # keys of the first query
    is_before = bool(first[: n + 1].all()) and not bool(first[-n:].all())
    others = (UNNAMED,) * n
    return (*others, *tokens) if is_before else (*tokens, *others)
