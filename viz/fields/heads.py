"""The choices of Heads: all of them or one, the axes of their map, and which the table lists."""

from dataclasses import dataclass

from viz.about import CHECKPOINT
from viz.choice import PageFields, choice
from viz.spelling import HEADS, NAME, TEXT, YES, one_of


@dataclass(frozen=True)
class HeadsFields:
    """The choices of Heads."""

    heads_of: str = choice(one_of("all", "one", "ask"), "all")
    """All heads, the one that kind, layer and head name, or those that answer a question."""
    heads_survey: bool = choice(YES, False, CHECKPOINT)
    """A survey is made, of a checkpoint that has none."""
    heads_kind: str | None = choice(NAME, None, CHECKPOINT)
    """The kind whose heads are seen; None: all kinds, each on a map of its own."""
    heads_x: str = choice(NAME, "likeness")
    """The number along the map; "likeness": heads of like footprints are near each other."""
    heads_y: str = choice(NAME, "worth")
    heads_find: str = choice(TEXT, "")
    """A part of the name or of a label of those that the table lists."""
    heads_order: str = choice(NAME, "layer")
    """The column that the table is sorted by."""
    heads_among: tuple[tuple[str, int, int], ...] = choice(HEADS, (), CHECKPOINT)
    """The heads that were chosen on a map; (): all."""
    heads_ask: str = choice(TEXT, "")
    """The question that is asked."""


FIELDS = PageFields("heads", HeadsFields)
