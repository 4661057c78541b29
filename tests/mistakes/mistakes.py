"""The mistakes: a text, the word that is wrong in what is written of it, and the right one."""

from dataclasses import dataclass
from pathlib import Path

from transformer.checkpoint import shipped_path

CHECKPOINT = shipped_path("en-de-1")
METHOD = "beam"
DOCUMENT, RESULTS = Path("docs/mistakes.md"), Path(__file__).with_name("results.json")


@dataclass(frozen=True)
class Mistake:
    """A word that is wrong."""

    title: str
    text: str
    written: str
    """The wrong word, as it is written."""
    right: str
    """The word, or words, that would be right in its place."""


WOMAN = (
    "The woman whose car was stolen yesterday is talking to the police officer in front of the "
    "supermarket."
)
RISE = "The bank raised its interest rates by 0.75 percent, the largest increase since 1994."
MISTAKES = (
    Mistake("whose", WOMAN, "die", "deren"),
    Mistake("gestohlen", WOMAN, "gestohlen", "bestohlen"),
    Mistake("Parlament", RISE, "Parlament", "Jahr"),
    Mistake("Parlament, where 1994 should stand", RISE, "dem", "1994"),
    Mistake(
        "for three days",
        "After the storm, thousands of people in the north of the country were without electricity "
        "for three days.",
        "ohne",
        "drei Tage",
    ),
    Mistake(
        "Bank",
        "He sat on the bank of the river and watched the children who were playing with a red "
        "ball.",
        "Bank",
        "Ufer",
    ),
    Mistake(
        "in dem Kuchen gibt",
        "My daughter is allergic to nuts, so please make sure that there are none in the cake.",
        "in",
        "keines",
    ),
    Mistake(
        "vor der Anfang",
        "The government announced on Tuesday that 1,250 new teachers will be hired before the "
        "start of the school year.",
        "der",
        "dem",
    ),
)
