"""Phrases that must stand somewhere in a target, and how far a hypothesis has come with them."""

from collections.abc import Callable
from dataclasses import dataclass

Continues = Callable[[int, int], bool]
"""Tells whether a token goes on with the word that the token before it is of."""


def separate(before: int, id: int) -> bool:
    """Say that no token goes on with a word."""
    return False


@dataclass(frozen=True)
class Phrases:
    """Phrases of tokens, to stand in a target as whole words."""

    ids: tuple[tuple[int, ...], ...] = ()
    continues: Continues = separate

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Placed:
    """A state of a hypothesis: the phrases that stand in it, and the one being written."""

    whole: frozenset[int] = frozenset()
    """Numbers of the phrases that stand in it."""
    current: int = -1
    """The number of the phrase that is being written; -1: none."""
    at: int = 0
    """Tokens of it that are written."""
    last: int = -1
    """The number of the phrase that the last token has made whole; -1: none."""

    def n_tokens(self, phrases: Phrases) -> int:
        """Tokens of all phrases that are written."""
        return sum(len(phrases.ids[each]) for each in self.whole) + self.at

    def is_whole(self, phrases: Phrases) -> bool:
        """Tell whether all of them stand in it."""
        return len(self.whole) == len(phrases)

    def following(self, phrases: Phrases) -> set[int]:
        """The tokens that bring it further."""
        open_ones = [n for n in range(len(phrases)) if n not in self.whole]
        begun = set() if self.current < 0 else {phrases.ids[self.current][self.at]}
        return begun | {phrases.ids[n][0] for n in open_ones}

    def after(self, id: int, phrases: Phrases) -> "Placed":
        """The same after one more token.

        A phrase that is broken off counts no more, nor one whose last word goes on: "Hund" is not
        in "Hundert". Of several that begin alike, the longest is taken up.
        """
        ids, whole = phrases.ids, self.whole
        if self.current >= 0 and ids[self.current][self.at] == id:
            return _taken(whole, self.current, self.at + 1, phrases)
        if self.last >= 0 and phrases.continues(ids[self.last][-1], id):
            whole = whole - {self.last}
        beginning = [n for n, each in enumerate(ids) if n not in whole and each[0] == id]
        if not beginning:
            return Placed(whole)
        return _taken(whole, max(beginning, key=lambda n: len(ids[n])), 1, phrases)


def _taken(whole: frozenset[int], number: int, at: int, phrases: Phrases) -> Placed:
    if at < len(phrases.ids[number]):
        return Placed(whole, number, at)
    return Placed(whole | {number}, last=number)
