"""Answers of the people in a room to a scene's question: 100 points each, on the words of a row.

Nothing of the truth is here: what people said is scored where the weights are, once they are shown.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from viz.about import QUESTION
from viz.components.kit.browser import digest
from viz.lessons.task import shares
from viz.screen import Screen

ALL = 100
"""Points that one person may spread."""
MOST_WORDS = 100
"""The number of words in a row that a room may be asked about."""
MOST_ANSWERS = 1000
"""The number of people who may answer one question."""


@dataclass
class Tally:
    """The answers to one question; whoever answers again changes theirs, until it is revealed."""

    words: tuple[str, ...] = ()
    """() until somebody has seen the question."""
    guess: tuple[int, ...] | None = None
    """The points of the window that revealed it; None: it is not revealed."""
    answers: dict[str, bytes] = field(default_factory=dict)
    """The points on each word, by who gave them."""
    sums: list[int] = field(default_factory=list)
    """The sums of all points on each word."""
    _logs: list[float] | None = None

    def put(self, who: str, points: Sequence[int]) -> None:
        """Count an answer; one without points takes back what was said."""
        is_full = len(self.answers) >= MOST_ANSWERS and who not in self.answers
        if self.guess is not None or len(points) != len(self.words) or is_full:
            return
        before = self.answers.pop(who, bytes(len(points)))
        if any(points):
            self.answers[who] = bytes(points)
        sums = self.sums or [0] * len(points)
        self.sums = [a - b + c for a, b, c in zip(sums, before, points, strict=True)]

    def reveal(self, guess: tuple[int, ...]) -> None:
        """No answer is counted any more. guess: of the window that shows the truth."""
        if self.guess is None:
            self.guess = guess

    def counted(self, who: str) -> list[int] | None:
        """The answer that is known of somebody."""
        answer = self.answers.get(who)
        return None if answer is None else list(answer)

    def summary(self) -> dict[str, Any]:
        """Return what a wall shows; what scores it, too, once it is revealed."""
        result = {"answered": len(self.answers), "points": self.sums}
        return result | ({"logs": self.logs} if self.guess is not None else {})

    @property
    def logs(self) -> list[float]:
        """The mean over people of ln p for each word, p being its share of their points.

        The mean of what they all pay is -sum_j A_j of these.
        """
        if self._logs is None:
            rows = [[math.log(each) for each in shares(one)] for one in self.answers.values()]
            self._logs = [math.fsum(word) / len(rows) for word in zip(*rows, strict=True)]
        return self._logs


def why_not_counted(words: Sequence[str]) -> str:
    """Say why a room counts no answers about these words; empty where it does."""
    if len(words) <= MOST_WORDS:
        return ""
    return (
        f"This sentence is too long to be counted: it has {len(words)} words here, and answers are "
        f"counted on {MOST_WORDS} at most."
    )


def question_of(screen: Screen) -> str:
    """A name of what the scene asks about this sentence: another one is another question."""
    return digest(repr([getattr(screen, name) for name in sorted(QUESTION)]).encode())


def points_of(values: Any) -> tuple[int, ...] | None:
    """Read the points that a browser puts on words, which may be anything; None: no such points."""
    if not isinstance(values, list) or not all(type(each) is int and each >= 0 for each in values):
        return None
    return tuple(values) if sum(values) <= ALL else None
