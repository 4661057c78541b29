"""The entries of a dictionary that are worth learning first."""

import re
from collections import Counter
from collections.abc import Iterable

from transformer.training.recipes.en_de_data.noise import Row

FAMILIAR = 400
"""A word that occurs so often in sentences is learned from them."""
MEANINGS = (2, 1)
"""The times that a word comes with its commonest translation, and how often with the second."""


def counted(texts: Iterable[str]) -> Counter[str]:
    """Count how often each word occurs, in lower case."""
    return Counter(word for text in texts for word in words(text))


def words(text: str) -> list[str]:
    """The runs of letters, in lower case."""
    return re.findall(r"[^\W\d_]+", text.lower())


def sorted_out(
    entries: Iterable[Row], english: Counter[str], german: Counter[str]
) -> tuple[list[Row], list[Row]]:
    """The words that somebody is likely to type, with their commonest translations; all the rest.

    english, german: how often a word occurs in the sentences that are trained on. A word is likely
    where they have it at all, and a translation common where they have all its words.
    """
    meanings: dict[str, list[str]] = {}
    for source, target in entries:
        meanings.setdefault(source, []).append(target)
    likely, rest = [], []
    for source, targets in meanings.items():
        targets.sort(key=lambda target: -_rarest(target, german))
        common = [target for target in targets if _rarest(target, german)][: len(MEANINGS)]
        is_word = len(words(source.removeprefix("to "))) == 1
        if is_word and common and 0 < _rarest(source, english) < FAMILIAR:
            for target, times in zip(common, MEANINGS, strict=False):
                likely += [(source, target)] * times
        else:
            rest.append((source, targets[0]))
    return likely, rest


def _rarest(text: str, counts: Counter[str]) -> int:
    """Count how often the rarest word of a text occurs; 0 of none."""
    return min((counts[word] for word in words(text)), default=0)
