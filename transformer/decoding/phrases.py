"""Phrases that must stand somewhere in a target, and how far a hypothesis has come with them."""

from collections.abc import Sequence
from dataclasses import dataclass

Phrases = Sequence[tuple[int, ...]]


@dataclass(frozen=True)
class Placed:
    """How far a hypothesis has come: the phrases that stand in it, and the one being written."""

    whole: frozenset[int] = frozenset()
    """Numbers of the phrases that stand in it."""
    current: int = -1
    """The number of the phrase that is being written; -1: none."""
    at: int = 0
    """Tokens of it that are written."""

    def n_tokens(self, phrases: Phrases) -> int:
        """Tokens of all phrases that are written."""
        return sum(len(phrases[each]) for each in self.whole) + self.at

    def is_whole(self, phrases: Phrases) -> bool:
        """Tell whether all of them stand in it."""
        return len(self.whole) == len(phrases)

    def following(self, phrases: Phrases) -> set[int]:
        """The tokens that bring it further."""
        open_ones = [n for n in range(len(phrases)) if n not in self.whole]
        begun = set() if self.current < 0 else {phrases[self.current][self.at]}
        return begun | {phrases[n][0] for n in open_ones}

    def after(self, id: int, phrases: Phrases) -> "Placed":
        """The same after one more token.

        A phrase that is broken off counts no more; of several that begin alike, the longest is
        taken up.
        """
        if self.current >= 0 and phrases[self.current][self.at] == id:
            return _taken(self.whole, self.current, self.at + 1, phrases)
        beginning = [n for n, each in enumerate(phrases) if n not in self.whole and each[0] == id]
        if not beginning:
            return Placed(self.whole)
        return _taken(self.whole, max(beginning, key=lambda n: len(phrases[n])), 1, phrases)


def _taken(whole: frozenset[int], number: int, at: int, phrases: Phrases) -> Placed:
    if at < len(phrases[number]):
        return Placed(whole, number, at)
    return Placed(whole | {number})
