"""Heads that change what is written once they are off: what the tour promises of a sentence.

Most single heads change no word, as others see the same. So the tour names heads only where these
are known to change one: of the sentences that the shipped translator offers to try.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from transformer.checkpoint import About
from viz.labels import kind_title

CHECKPOINT, RECIPE = "en-de", "en-de-long"
"""The name of the weights that these effects are of, and their recipe: others need other heads."""


@dataclass(frozen=True)
class Effect:
    """A change of what is written, by switching off heads of one kind of attention."""

    kind: str
    heads: tuple[tuple[int, int], ...]
    """The layer and the number of each."""
    gone: str
    """The word that is no longer written."""
    new: str = ""
    """The word in its place; empty: none."""

    @property
    def edits(self) -> tuple[str, ...]:
        """The edits that these clicks make."""
        return tuple(f"head-off:{self.kind}.{layer}.{head}" for layer, head in self.heads)

    @property
    def squares(self) -> str:
        """The names of its heads, as the grid has them.

        >>> Effect("cross", ((1, 7), (2, 2)), "nicht").squares
        'L1 H7 and L2 H2 of Cross'
        """
        names = " and ".join(f"L{layer} H{head}" for layer, head in self.heads)
        return f"{names} of {kind_title(self.kind)}"

    @property
    def outcome(self) -> str:
        """The change in words.

        >>> Effect("cross", ((0, 6),), "es", "er").outcome
        '“es” becomes “er”'
        """
        return f"“{self.gone}” becomes “{self.new}”" if self.new else f"“{self.gone}” is gone"


EFFECTS: Mapping[str, Effect] = {
    "The animal didn't cross the street because it was too tired.": Effect(
        "cross", ((1, 7), (2, 2)), "nicht"
    ),
    "The old man did not sell the house because it was too beautiful.": Effect(
        "cross", ((0, 6),), "es", "er"
    ),
    "He has two small dogs and a big black cat.": Effect("cross", ((2, 0),), "kleine"),
}
"""Sentence -> its effect, as beam search writes by default."""


def effect_of(checkpoint: str, about: About, text: str) -> Effect | None:
    """Return what is known to change the words of a text; None where nothing is known."""
    is_known = (checkpoint, about.recipe) == (CHECKPOINT, RECIPE)
    return EFFECTS.get(text) if is_known else None
