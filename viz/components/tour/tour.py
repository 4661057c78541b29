"""Heads that change what is written once they are off: what the tour promises of a sentence.

Most single heads change no word, as others see the same. So the tour names heads only where these
are known to change one: of the sentences that the shipped translator offers to try."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from transformer.checkpoint import About
from transformer.models.family import Family
from viz.components.kit.browser import Component, envelope, pack
from viz.components.kit.sync import mountable
from viz.labels import kind_title
from viz.theme import Theme

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


# A line that says what the app is, and a tour of a minute that points at what is on screen.

TOUR = Component("tour")
_tour = mountable(TOUR)
DOES = {"source": "writes", "prompt": "writes on", "text": "reads"}
"""The verb for a model and its text, by how it reads."""
_LANGUAGES = re.compile(r"[A-Z]\w+ to [A-Z]\w+")
"""The title of a translator."""


@dataclass(frozen=True)
class Step:
    """A step of the tour: what it points at, and its words."""

    place: str
    """The name of what it points at (viz/components/tour/places.js)."""
    title: str
    text: str
    """The words of the step; {word} stands for the word that is pointed at."""
    plain: str = ""
    """The text where what it speaks of is not to be seen, or is done already."""
    offer: str = ""
    """The text at the button that changes what is written, on a first visit."""
    more: str = ""
    """The text at the button that opens all controls, where nothing else changes it."""


def introduction(does: str) -> tuple[str, str]:
    """The app in one line, for who has never heard of it, and what goes on with it where there is
    room: squares are below the first screen of a phone. does: the model's verb.
    """
    line = f"A model {does} as you type."
    return line, "Each square is a head: which word looks at which."


def steps(does: str, writes: bool, effect: Effect | None = None) -> tuple[Step, ...]:
    """The tour of the first screen.

    does: the model's verb; writes: whether it writes tokens; effect: what changes the words on
    screen; None: nothing is known to, and nothing is promised.
    """
    begin = Step(
        "sentence",
        "Type here",
        f"Change a word: the model {does} again with each letter, and all pictures below follow.",
    )
    heads = Step(
        "head",
        "Each square is a head",
        "A head is one way of looking from word to word. In a square, a row is the word that "
        "looks and a column the word that it looks at; the stronger the colour, the more it "
        "looks. Click a square to see it large.",
    )
    row = Step(
        "row",
        "One head, large",
        "From “{word}” lines go to all that it looks at: the stronger, the more. Point at "
        "any of them to see only its lines; a click keeps them.",
        "The sentence here says the strongest of it in words: what looks at what, and how much, "
        "from 0 to 1.",
    )
    need = Step(
        "marked",
        "To look is not to need",
        "≠ at “{word}”: the model looks most at one word and needs another. Where that one is "
        "hidden from it, “{word}” is less likely. Click a word of this line to see what it "
        "needs.",
        "Click a word of this line: the model is run again with each other word hidden, which "
        "shows what it really needs. Where that is another word than it looks at, ≠ stands.",
    )
    onward = Step(
        "learn",
        "Where to go on",
        "Lessons ask what heads do, and answer. The gallery has sentences in which much happens. "
        "Underlined words have a card that explains them.",
    )
    return (begin, heads, row, *[need] * writes, _experiment(writes, effect), onward)


def _experiment(writes: bool, effect: Effect | None) -> Step:
    """The step that has something switched off."""
    if effect is None:
        title, squares = "Switch a head off", "squares"
        outcome = "you read at once what that changes"
        if writes:
            outcome = (
                "you read at once what the model writes without them: often the same words, as "
                "other heads see the same"
            )
    else:
        title = "Switch heads off" if len(effect.heads) > 1 else "Switch a head off"
        squares, outcome = effect.squares, effect.outcome
    return Step(
        "experiment",
        title,
        f"Press here, then click {squares}: what is seen there is left out, and {outcome}.",
        f"It is on: click {squares}: what is seen there is left out, and {outcome}. This line says "
        "what changes, and takes it back.",
        "Press it: what these heads see is left out, and the model writes anew. The line at the "
        "foot of the window says what changes, and takes it back.",
        f"Press More, then Experiment, and click {squares}: what is seen there is left out, and "
        f"{outcome}.",
    )


def tour(
    about: About,
    family: Family,
    links: dict[str, str],
    theme: Theme,
    effect: Effect | None = None,
    key: str = "tour",
) -> None:
    """Draw the line with the button that begins the tour.

    It stays until the tour was seen or the line closed, once for a browser; then only the button.
    The tour begins at `#tour` in the address, too. links: title -> link, for the last step. effect:
    what is known to change the words on screen.
    """
    # The verb for what this model does with a text, as far as it says so itself.
    does = "translates" if _LANGUAGES.match(about.title) else DOES[family.reads]
    _tour(
        envelope(
            pack({}),
            theme,
            line=introduction(does),
            steps=[asdict(step) for step in steps(does, family.decodes, effect)],
            links=links,
            begins="",
        ),
        key,
    )


def line_here(words: str, start: str, theme: Theme, key: str = "tour") -> None:
    """Draw the line of another page than the first: what it shows, and a button to the tour.

    start: the address at which the tour begins.
    """
    _tour(
        envelope(pack({}), theme, line=(words, ""), steps=[], links={}, begins=start),
        key,
    )
