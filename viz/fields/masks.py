"""The second sentence of Masks, and the masks that are shown."""

from dataclasses import dataclass

from viz.choice import PageFields, choice
from viz.spelling import NAME, TEXT, one_of


@dataclass(frozen=True)
class MasksFields:
    """The choices of Masks."""

    mask_text: str | None = choice(TEXT)
    """The second sentence; None: the one that is offered."""
    mask_kind: str | None = choice(NAME)
    masks: str = choice(one_of("used", "textbook"), "used")
    """The mask that is drawn: the one that the model used, or the textbook's."""


FIELDS = PageFields("masks", MasksFields)
