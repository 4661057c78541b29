"""What a word declares of itself."""

from dataclasses import dataclass
from typing import Literal

Illustration = Literal["", "head", "layer", "row", "extremes", "candidates"]
"""What a card's small picture shows of the sentence on screen, where a picture there has it:
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
    title: str
    """As it stands above its card."""
    sentence: str
    """One, which somebody understands who meets the word for the first time."""
    formula: str = ""
    """In LaTeX as viz/formula.py reads it; of every quantity."""
    source: str = ""
    """Who defined it so; of every quantity that is not a name only."""
    spellings: tuple[str, ...] = ()
    """How else it stands in texts."""
    stands_in: tuple[str, ...] = ()
    """The components whose texts underline it; what a page says of it is up to the page."""
    illustration: Illustration = ""
