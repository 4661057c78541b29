"""A question about one row of a head: 100 points are put on its words, then the weights are shown.

The browser has no weight before the answer: the truth comes with another payload.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from viz.components.kit.browser import Component, envelope, pack
from viz.components.kit.sync import mountable
from viz.theme import Theme

QUESTION = Component("question")
_question = mountable(QUESTION)


@dataclass(frozen=True)
class Truth:
    """The weights of a row, and the costs of two guesses that know nothing, in nats."""

    weights: tuple[float, ...]
    """The weight of each word; they add up to 1."""
    uniform: float
    previous: float
    """The cost of the guess that a row looks at the word before its own."""
    least: float
    """The cost of the weights themselves: their entropy."""
    says: str


def question_payload(text: str, words: Sequence[str], truth: Truth | None) -> bytes:
    """truth: None while nobody has answered."""
    return pack({"asked": text, "words": list(words), "truth": truth and asdict(truth)})


def question_data(
    payload: bytes,
    theme: Theme,
    guess: tuple[int, ...] | None = None,
    of: str = "",
    role: str | None = None,
    uncounted: str = "",
) -> bytes:
    """guess: the points that were put on the words. of, role: in a room, its name of the question,
    and what the window is for: then the audience answers together. uncounted: why it cannot, in a
    sentence, or empty: then everybody answers alone.
    """
    return envelope(payload, theme, guess=guess, of=of, role=role, uncounted=uncounted)


def question(
    payload: bytes,
    theme: Theme,
    guess: tuple[int, ...] | None,
    on_reveal: Callable[[list[int]], None],
    of: str = "",
    role: str | None = None,
    uncounted: str = "",
    key: str = "question",
) -> None:
    """Draw it. on_reveal: called with the points, or with nothing where nobody guessed."""
    data = question_data(payload, theme, guess, of, role, uncounted)
    _question(data, key, on_reveal=on_reveal)
