"""The declaration of a word that screens explain, and of its card."""

from dataclasses import dataclass
from typing import Literal

Illustration = Literal["", "head", "layer", "row", "extremes", "candidates"]
"""The subject of a card's small picture, of the sentence on screen where a picture there has it:
the head; all heads of its layer; the row that is spoken of, as bars; of a metric the heads with the
least and the most of it; what a step could have written."""

HEADS = (
    "head_grid",
    "head_view",
    "head_map",
    "cell_steps",
    "decode_player",
    "snapshot_player",
)
"""Pictures that show heads."""


@dataclass(frozen=True)
class Word:
    """A word that is explained where it stands."""

    name: str
    sentence: str
    """One, which somebody understands who meets the word for the first time."""
    formula: str = ""
    """In LaTeX as viz/formula.py reads it; of every quantity."""
    source: str = ""
    """Its first definition; of every quantity that is not a name only."""
    heading: str = ""
    """The title of its card, where that is not its name."""
    spellings: tuple[str, ...] = ()
    """Its other spellings in texts."""
    stands_in: tuple[str, ...] = ()
    """The components whose texts underline it; what a page says of it is up to the page."""
    illustration: Illustration = ""

    @property
    def title(self) -> str:
        """The heading of its card."""
        return self.heading or self.name.replace("_", " ")
