"""The choices of Explore alone."""

from dataclasses import dataclass

from viz.about import REQUEST
from viz.choice import PageFields, choice
from viz.spelling import one_of


@dataclass(frozen=True)
class ExploreFields:
    """The choices of Explore."""

    asks: str | None = choice(one_of("there", "back"), None, REQUEST)
    """The heads are listed that look from the words that are pinned first to those that are pinned
    then, or back; None: they are not asked for."""


FIELDS = PageFields("explore", ExploreFields)
