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
    """A state of a hypothesis: the phrases that stand in it, and how much of the others is written.

    Each phrase is followed by itself, so that one may stand within another, or overlap it.
    """

    whole: frozenset[int] = frozenset()
    """Numbers of the phrases that stand in it."""
    at: tuple[int, ...] = ()
    """Tokens of each phrase that the end of the text has; empty: of none."""
    fresh: frozenset[int] = frozenset()
    """The phrases that the last token has made whole."""

    def _at(self, number: int) -> int:
        return self.at[number] if self.at else 0

    def n_tokens(self, phrases: Phrases) -> int:
        """Tokens of all phrases that are written."""
        numbers = range(len(phrases))
        return sum(len(phrases.ids[n]) if n in self.whole else self._at(n) for n in numbers)

    def is_whole(self, phrases: Phrases) -> bool:
        """Tell whether all of them stand in it."""
        return len(self.whole) == len(phrases)

    def following(self, phrases: Phrases) -> set[int]:
        """The tokens that bring it further: the next one of each open phrase, or its first."""
        open_ones = [n for n in range(len(phrases)) if n not in self.whole]
        return {phrases.ids[n][at] for n in open_ones for at in {0, self._at(n)}}

    def after(self, id: int, phrases: Phrases) -> "Placed":
        """The same after one more token.

        A phrase whose last word goes on does not stand there: "Hund" is not in "Hundert".
        """
        if not phrases:
            return self
        ids = phrases.ids
        broken = {n for n in self.fresh if phrases.continues(ids[n][-1], id)}
        whole, fresh, at = self.whole - broken, set(), []
        for number, phrase in enumerate(ids):
            n = _matching(phrase, self._at(number), id)
            if n == len(phrase):
                if number not in whole:
                    fresh.add(number)
                n = _border(phrase)
            at.append(n)
        return Placed(whole | fresh, tuple(at), frozenset(fresh))


def _matching(phrase: tuple[int, ...], at: int, id: int) -> int:
    """Tokens of a phrase at the end of a text, where `at` of them were there before this one."""
    return _overlap((*phrase[:at], id), phrase)


def _border(phrase: tuple[int, ...]) -> int:
    """Tokens at its end with which it begins again."""
    return _overlap(phrase[1:], phrase)


def _overlap(text: tuple[int, ...], phrase: tuple[int, ...]) -> int:
    """The most tokens at the end of a text with which a phrase begins."""
    lengths = range(min(len(text), len(phrase)), -1, -1)
    return next(n for n in lengths if text[len(text) - n :] == phrase[:n])
