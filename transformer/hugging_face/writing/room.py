"""The longest text that may be written: by the model's positions, its folder, and this project."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from transformer.hugging_face.writing.values import IsLegal, is_count

MOST_WRITTEN = 128
"""Tokens that a decoder-only model writes at most: few of them stop by themselves."""


def _is_length(value: Any, vocab_size: int) -> bool:
    return is_count(value, vocab_size) and value > 0


LENGTHS: Mapping[str, IsLegal] = {"max_length": _is_length, "max_new_tokens": _is_length}
"""Name -> whether a value can be followed."""


class Room(NamedTuple):
    """The tokens that may be written, and who says so."""

    n_tokens: int
    is_cut: bool
    """True: the text ends there by nobody's wish."""


def room(
    settings: Mapping[str, Any],
    n_source: int,
    n_starts: int,
    longest: int,
    most: int = MOST_WRITTEN,
) -> Room:
    """Return the room after a source, or a prompt, of n_source tokens.

    n_starts: what a decoder beside an encoder is fed first; 0: there is none. longest: tokens that
    the model has positions for.
    """
    n_begun = n_starts or n_source
    n_tokens = longest - n_begun + 1  # the last one is not read
    own = _own_limit(settings, n_begun, n_starts)
    if own is not None and own < n_tokens:
        n_tokens = own
    usual = most
    if n_starts:
        usual = 2 * n_source + 10
        least = max(settings.get("min_length", 0), settings.get("min_new_tokens", 0))
        if least:  # such a text is no translation, as long as its source
            usual = max(usual, n_tokens if own is not None else least + usual)
    result = min(n_tokens, usual)
    return Room(result, own is None or result < own)


def _own_limit(settings: Mapping[str, Any], n_begun: int, n_starts: int) -> int | None:
    """Return how many tokens its folder lets be written; None: it says nothing that leaves any."""
    if "max_new_tokens" in settings:
        own = settings["max_new_tokens"] - max(0, n_starts - 1)  # a forced one counts as written
    elif "max_length" in settings:
        own = settings["max_length"] - n_begun
    else:
        return None
    return own if own > 0 else None
