"""Promises: where words say that an edit, another word or another method changes what is written.

Whoever writes such words adds a row; `tests/test_promises.py` runs each on the shipped weights.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.browser.film import BETTER, WORD
from tests.browser.film import TEXT as FILM
from viz.components.tour.tour import CHECKPOINT, EFFECTS
from viz.pages.sweep.patch import EXAMPLES

ANIMAL = "The animal didn't cross the street because it was too tired."
"""The sentence that the app opens with."""
WIDE, SMALL = ANIMAL.replace("tired", "wide"), ANIMAL.replace("tired", "small")
KITCHEN = "The animal didn't cross the kitchen because it was too small."
PHONE = "My phone is broken because I dropped it."
DOGS = "He has two small dogs and a big black cat."
STORM = (
    "After the storm, thousands of people in the north of the country were without electricity for "
    "three days."
)
PRINTER = "The printer has run out of paper again."
NUTS = "My daughter is allergic to nuts, so please make sure that there are none in the cake."
BANK = "The bank raised its interest rates by 0.75 percent, the largest increase since 1994."
CRANE = "The crane flew over the lake and landed near the trees."
JAM = "We picked strawberries in the garden and made jam."
CAT, DOG = EXAMPLES["source"]
TALK = "viz/stories/attention-is-all-you-need.md"
LOST = "viz/stories/lost-words.md"
HOW = "docs/how-do-i.md"
TWO = "head-off:cross.1.7/head-off:cross.2.2"
GREEDY: Mapping[str, Any] = {"method": "greedy"}


@dataclass(frozen=True)
class Promise:
    """What is written without a change and with it: the words that go, and those that come."""

    file: str
    words: str
    """The words that promise it, as they stand there."""
    text: str
    edits: str = ""
    """As an address has them."""
    gone: str = ""
    new: str = ""
    """Words in the place of those that are gone; neither: the promise is that the words stay."""
    checkpoint: str = CHECKPOINT
    method: str = "beam"
    instead: str = ""
    """Another text, where that is the change."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Other arguments of the second `decode`, where these are the change."""


TOUR = [
    Promise(
        "viz/components/tour/tour.py",
        text,
        text,
        "/".join(effect.edits),
        effect.gone,
        effect.new,
    )
    for text, effect in EFFECTS.items()
]
"""The tour says them of the sentence on screen."""
PROMISES = [
    *TOUR,
    Promise(
        "viz/components/tour/tour.py",
        "Change a word: the model {does} again",
        ANIMAL,
        gone="es müde",
        new="sie breit",
        instead=WIDE,
    ),
    # The talk
    Promise(
        TALK,
        "Then write wide for tired: now it looks at ‘die’, of the street, and the model writes "
        "‘sie’.",
        ANIMAL,
        gone="es müde",
        new="sie breit",
        instead=WIDE,
    ),
    Promise(
        TALK,
        "With this head switched off it writes ‘es’ for both.",
        WIDE,
        "head-off:decoder_self.2.3",
        "sie",
        "es",
    ),
    Promise(
        TALK,
        "With this head switched off it writes ‘es’ for both.",
        ANIMAL,
        "head-off:decoder_self.2.3",
    ),
    Promise(
        TALK,
        "Two heads off, one word gone",
        ANIMAL,
        "head-off:cross.1.7/head-off:cross.2.7",
        "nicht",
    ),
    Promise(
        TALK,
        "Two of the 24 heads that look at English are switched off, and ‘nicht’ is gone",
        ANIMAL,
        "head-off:cross.1.7/head-off:cross.2.7",
        "nicht",
    ),
    Promise(
        TALK,
        "click one of the two: it is on again and ‘nicht’ is back",
        ANIMAL,
        "head-off:cross.1.7",
    ),
    Promise(
        TALK,
        "click one of the two: it is on again and ‘nicht’ is back",
        ANIMAL,
        "head-off:cross.2.7",
    ),
    Promise(
        TALK,
        "Choose greedy decoding to see another one.",
        BANK,
        gone="die Zinssätze um Preiserhöhung Parlament",
        new="mit Anstiegerhöhung Jahr",
        checkpoint="en-de-1",
        options=GREEDY,
    ),
    # Gallery
    Promise(
        "viz/stories/worth-of-heads.md",
        "Off, it changes the pronoun in 9 of 18 other sentences with two nouns, and here to ‘es’",
        KITCHEN,
        "head-off:decoder_self.2.3",
        "sie",
        "es",
    ),
    Promise(
        "viz/stories/figures-of-the-paper.md",
        "Too small is the street: at ‘weil’ now ‘die’ gets 0.88, ‘Das’ 0.04, and ‘sie’ is written.",
        ANIMAL,
        gone="es müde",
        new="sie klein",
        instead=SMALL,
    ),
    # Lessons
    Promise(
        LOST,
        "With all three words hidden the model writes the same sentence",
        STORM,
        "hide:source.16/hide:source.17/hide:source.18",
        checkpoint="en-de-1",
    ),
    Promise(
        LOST,
        "With “run” and “out” hidden the same sentence is written.",
        PRINTER,
        "hide:source.3/hide:source.4",
        checkpoint="en-de-1",
    ),
    Promise(
        LOST,
        "With “again” hidden it is right: *Der Drucker hat kein Papier mehr.*",
        PRINTER,
        "hide:source.7",
        "wieder",
        "kein mehr",
        checkpoint="en-de-1",
    ),
    Promise(
        "viz/stories/two-meanings.md",
        "hiding “flew” changes nothing of “Kran”",
        CRANE,
        "hide:source.2",
        "flog",
        checkpoint="en-de-1",
    ),
    Promise(
        "viz/stories/two-meanings.md",
        "Greedy decoding writes *Marmelade* here",
        JAM,
        gone="Jazz",
        new="Marmelade",
        checkpoint="en-de-1",
        options=GREEDY,
    ),
    Promise(
        "viz/stories/where-it-was-decided.md",
        "The greedy text is right (*dass es keines im Kuchen gibt*)",
        NUTS,
        gone="hat eine Nussallergie damit in dem",
        new="ist gegen Nüsse allergisch also bitte dass keines im",
        checkpoint="en-de-1",
        options=GREEDY,
    ),
    # README, documents and their pictures
    Promise(
        "README.md",
        "switch heads off and see what is written then",
        ANIMAL,
        TWO,
        "nicht",
    ),
    Promise(
        "README.md",
        "a wrong word is asked what it needs, and another one is written in its place",
        FILM,
        gone=WORD,
        new=BETTER,
        options={"prefix": f"Der Kellner brachte die Rechnung und ein Glas {BETTER}"},
    ),
    Promise("tests/browser/screenshots.py", f"/?edits={TWO}&tool=heads", ANIMAL, TWO, "nicht"),
    Promise("tests/browser/screenshots.py", f"/compare?edits={TWO}", ANIMAL, TWO, "nicht"),
    Promise(
        "tests/browser/screenshots.py",
        "edits=positions-shift:source%3D3",  # a picture of what heads make of it
        ANIMAL,
        "positions-shift:source=3",
    ),
    Promise(
        "docs/features.md",
        'two heads are off: the translation has lost its "nicht"',
        ANIMAL,
        TWO,
        "nicht",
    ),
    Promise(
        "docs/features.md",
        'activation patching: "cat" put into "dog"',
        DOG,
        f"state-from:encoder_self.0.3={CAT}",
        "den Hund",
        "die Katze",
    ),
    Promise(HOW, "[two heads off]", ANIMAL, TWO, "nicht"),
    Promise(
        HOW,
        'edits=("head-off:cross.2.0",)',
        PHONE,
        "head-off:cross.2.0",
        "heruntergefallen habe",
        "herunterfiel",
        method="greedy",
    ),
    Promise(
        HOW,
        'decode(checkpoint, text, prefix="Mein Handy", forbid=["kaputt"])',
        PHONE,
        gone="kaputt",
        new="gebrochen",
        method="greedy",
        options={"prefix": "Mein Handy", "forbid": ["kaputt"]},
    ),
    Promise(
        HOW,
        "shifted by 3, the model writes the same words",
        ANIMAL,
        "positions-shift:source=3",
    ),
    Promise(
        "docs/training.md",
        f'decode en-de "{DOGS}" --edit head-off:cross.2.0',
        DOGS,
        "head-off:cross.2.0",
        "kleine",
        method="greedy",
    ),
    Promise(
        "docs/library.md",
        'decode(checkpoint, "It rains.", prefix="Heute")',
        "It rains.",
        gone="Es",
        new="Heute es",
        method="greedy",
        options={"prefix": "Heute"},
    ),
]
