"""Which entries of a dictionary are worth learning first."""

import re
from collections import Counter
from collections.abc import Iterable

from transformer.training.noise import Row

MEANINGS = 4
"""An English entry keeps this many translations, the commonest ones."""
FAMILIAR = 200
"""A word with so many sentences is learned from them."""


def counted(texts: Iterable[str]) -> Counter[str]:
    """How often each word occurs, in lower case."""
    return Counter(word for text in texts for word in words(text))


def words(text: str) -> list[str]:
    """The runs of letters, in lower case."""
    return re.findall(r"[^\W\d_]+", text.lower())


def ranked(entries: Iterable[Row], english: Counter[str], german: Counter[str]) -> list[Row]:
    """The entries, each as often as it is useful to somebody who types a sentence.

    Of several translations those with the commonest German words stay. english, german: how often
    a word occurs in the sentences that are trained on.
    """
    meanings: dict[str, list[str]] = {}
    for source, target in entries:
        meanings.setdefault(source, []).append(target)
    rows = []
    for source, targets in meanings.items():
        best = sorted(targets, key=lambda target: -_rarest(target, german))[:MEANINGS]
        for target in best:
            rows += [(source, target)] * _times((source, target), english, german)
    return rows


def _times(row: Row, english: Counter[str], german: Counter[str]) -> int:
    """Words that sentences have, but not often: 6; phrases of known words: 2; other words: 1."""
    is_word = len(words(row[0].removeprefix("to "))) == 1
    occurs = _rarest(row[0], english)
    if not (occurs and _rarest(row[1], german)):
        return int(is_word)
    return 2 if not is_word else 6 if occurs < FAMILIAR else 1


def _rarest(text: str, counts: Counter[str]) -> int:
    """How often the rarest word of a text occurs; 0 of none."""
    return min((counts[word] for word in words(text)), default=0)
