"""Faults of a translation that BLEU hardly notices: lost halves, loops, invented words."""

import re
from collections.abc import Container

from transformer.tokenizer import plain
from transformer.words import text_words

_LOOP = re.compile(r"(.{1,2}?)\1{3}|(.{3,40}?)\2\2")


def spoken_words(text: str) -> list[str]:
    """The words of a text by the rule of `transformer.words`, without signs and bare numbers."""
    return [word for word in text_words(plain(text)) if any(map(str.isalpha, word))]


def invented_words(output: str, source: str, german: Container[str]) -> list[str]:
    """The words of an output that neither the list nor the given text holds, in order.

    source: the source and its reference: names are copied, and what the reference says is German
    however rare. german: words in `folded` form. A word with hyphens is known too where each part
    of it is.
    """
    beside = {part for word in spoken_words(source) for part in (folded(word), *_parts(word))}

    def is_known(word: str) -> bool:
        return word in german or word in beside

    return [
        word
        for word in spoken_words(output)
        if not is_known(folded(word)) and not all(map(is_known, _parts(word)))
    ]


def folded(word: str) -> str:
    """Case is no part of a word: German nouns begin sentences as verbs do; "ß" is "ss"."""
    return word.casefold()


def _parts(word: str) -> list[str]:
    return [folded(part) for part in word.split("-") if part]


def is_lost_half(output: str, reference: str) -> bool:
    """Tell whether the output has less than half of the reference's characters."""
    return len(output.strip()) < len(reference.strip()) / 2


def loop(output: str, source: str) -> str | None:
    """Return what an output repeats; None where it repeats nothing, or its source does so too.

    A loop is a run of 3 to 40 characters three times in direct succession, or of 1 or 2 characters
    four times ("nenene" is in Sonnenenergie), with a letter in the run. Characters are looked at
    instead of pieces, so that models with different vocabularies compare; case is ignored.
    """
    if _repeated(source):
        return None
    return _repeated(output)


def _repeated(text: str) -> str | None:
    units = (match[1] or match[2] for match in _LOOP.finditer(f" {folded(text)} "))
    return next((unit.strip() for unit in units if any(map(str.isalpha, unit))), None)
