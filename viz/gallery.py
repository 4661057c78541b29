"""Compositions: effects that are really there, each with a link, a sentence and its facts.

Data only. Every weight that a sentence names is a fact: a test runs the checkpoint on the text and
finds the weight there. Means are over sentences that the facts are an example of; how many is said.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain

from viz.screen import Screen


@dataclass(frozen=True)
class Fact:
    """One weight of a composition."""

    kind: str
    layer: int
    head: int
    query: int
    """Position of the row."""
    key: int
    """Position of the column."""
    row: str
    """The row's word, without ▁: in cross-attention the one written, elsewhere the one read."""
    column: str
    """The column's word."""
    least: float
    """The weight is at least this."""


@dataclass(frozen=True)
class Composition:
    """A picture that a link opens."""

    title: str
    sentence: str
    """What is seen, with its number."""
    screen: Screen
    facts: tuple[Fact, ...]

    @property
    def name(self) -> str:
        """In the address: the title's words."""
        return "-".join(re.findall(r"\w+", self.title.lower()))

    @property
    def told(self) -> Screen:
        """What its link opens: the picture below its story."""
        return replace(self.screen, story=self.name)


def _screen(text: str, checkpoint: str = "en-de", decoding: str | None = "beam") -> Screen:
    """In pieces, of which the facts are. decoding: None where nothing is written."""
    return Screen(checkpoint=checkpoint, text=text, decoding=decoding, tokens="pieces")


def _head(of: Screen, kind: str, layer: int, head: int, pin: str = "") -> Screen:
    """Its arrows. pin: such as "q5"."""
    return replace(of, kind=kind, layer=layer, head=head, pins=(pin,) if pin else ())


def _map(of: Screen, kind: str, layer: int, head: int) -> Screen:
    """Its heat map."""
    return replace(_head(of, kind, layer, head), picture="map")


def _beside(first: Screen, kind: str, layer: int, head: int) -> Screen:
    """The same beside another head."""
    return replace(first, page="compare", kind_b=kind, layer_b=layer, head_b=head)


_ENCODER, _DECODER, _CROSS = "encoder_self", "decoder_self", "cross"
_MEAT = _screen("Doesn't he eat the meat?")
_HOUSE = _screen("I have never seen such a beautiful house.")
_MOTHER = _screen("My mother must stay in bed because she is ill.")
_ANIMAL = _screen("The animal didn't cross the street because it was too tired.")
_SCHOOL = _screen("She didn't come to school yesterday because she was ill.")
_WINDOW = _screen("My mother didn't open the window because she was too tired.")
_KITCHEN = _screen("Tom has found his keys in the kitchen.")
_SCHOOL_WORD = Fact(_CROSS, 2, 3, 5, 7, "Schule", "school", 0.98)

_FIGURES = (
    Composition(
        "Figure 3: five heads, one distant verb",
        "Five of the eight heads of the encoder's last layer lead from ‘Does’ to its verb "
        "‘eat’, five tokens on, with 0.48 to 1.00 (H7 gives 0.85 on average in 60 questions with "
        "‘does’, 0.53 in 60 with ‘did’).",
        replace(_head(_MEAT, _ENCODER, 2, 7, "q0"), heads=(1, 2, 3, 4, 7)),
        tuple(
            Fact(_ENCODER, 2, head, 0, 5, "Does", "eat", least)
            for head, least in ((1, 0.88), (2, 0.52), (3, 0.77), (4, 0.46), (7, 0.98))
        ),
    ),
    Composition(
        "Figure 4, top: one head in full",
        "Most lines of L2 H2 of the decoder are short, two are long: ‘weil’, about to write "
        "‘sie’, looks six words back at ‘Mutter’ (0.64), and the comma four back at ‘muss’ (0.50).",
        _head(_MOTHER, _DECODER, 2, 2),
        (
            Fact(_DECODER, 2, 2, 8, 2, "weil", "Mutter", 0.62),
            Fact(_DECODER, 2, 2, 7, 3, ",", "muss", 0.47),
        ),
    ),
    Composition(
        "Figure 4, bottom: from one word",
        "At ‘weil’, about to write ‘sie’, H2 and H6 both look at ‘Mutter’, 0.64 and 0.61; where "
        "one noun stands before a pronoun, they give it 0.46 and 0.58 on average (28 sentences; "
        "from other rows 0.14 and 0.09).",
        replace(_head(_MOTHER, _DECODER, 2, 2, "q8"), heads=(2, 6)),
        (
            Fact(_DECODER, 2, 2, 8, 2, "weil", "Mutter", 0.62),
            Fact(_DECODER, 2, 6, 8, 2, "weil", "Mutter", 0.59),
        ),
    ),
    Composition(
        "Figure 5: two heads, two directions",
        "H4 looks ahead to the noun (‘a’ → ‘house’ 1.00), H6 back to what opened the phrase "
        "(‘seen’ → ‘have’ 0.89): an article two words before its noun gives it 0.61 of H4, "
        "against 0.18 for any word two ahead (68 articles of English EWT).",
        _beside(_head(_HOUSE, _ENCODER, 2, 4), _ENCODER, 2, 6),
        (
            Fact(_ENCODER, 2, 4, 5, 7, "a", "house", 0.98),
            Fact(_ENCODER, 2, 6, 3, 1, "seen", "have", 0.86),
        ),
    ),
    Composition(
        "A pronoun with two candidates",
        "At ‘weil’, about to write ‘sie’, L2 H6 puts 0.58 on ‘Mutter’ and 0.10 on ‘Fenster’: of "
        "two nouns the subject wins, 0.39 to 0.18 for ‘it’, 0.47 to 0.14 for ‘he’ or ‘she’ (16 "
        "pairs of sentences).",
        _head(_WINDOW, _DECODER, 2, 6, "q8"),
        (Fact(_DECODER, 2, 6, 8, 2, "weil", "Mutter", 0.56),),
    ),
    Composition(
        "It looks like anaphora, and finds the wrong noun",
        "L2 H3 of the encoder leads from ‘it’ to ‘street’ with 0.43, and to the animal, which was "
        "tired, with 0.22: the object gets 0.26 from ‘it’ on average, 0.01 and 0.00 from ‘she’ and "
        "‘nobody’ in its place (18 sentences).",
        _head(_ANIMAL, _ENCODER, 2, 3, "q10"),
        (Fact(_ENCODER, 2, 3, 10, 8, "it", "street", 0.41),),
    ),
)

_TRANSLATOR = (
    Composition(
        "A word and its translation",
        "Writing ‘Schule’, L2 H3 puts 1.00 on ‘school’ (a name finds itself with 0.92 on "
        "average, 363 names).",
        _map(_SCHOOL, _CROSS, 2, 3),
        (_SCHOOL_WORD, Fact(_CROSS, 2, 3, 9, 10, "sie", "she", 0.96)),
    ),
    Composition(
        "The same rows, named by what was read",
        "The same weights, but the row that looks at ‘school’ and writes ‘Schule’ is now called "
        "‘zur’, which it had read: by such labels a name finds itself with 0.01, not 0.92 (363 "
        "names).",
        replace(_map(_SCHOOL, _CROSS, 2, 3), rows="read"),
        (_SCHOOL_WORD,),
    ),
    Composition(
        "A verb fetched from afar",
        "The last word to be written is ‘gefunden’, and L2 H2 reaches over five words to "
        "‘found’, 1.00 (0.99 on average, 19 participles).",
        replace(_KITCHEN, page="decode", layer=2, head=2, step=7),
        (Fact(_CROSS, 2, 2, 7, 2, "gefunden", "found", 0.98),),
    ),
    Composition(
        "Why the verb waits",
        "At ‘krank’, about to write the clause's verb ‘war’, L2 H6 puts 1.00 on ‘weil’, which "
        "sends it to the end (0.85 on average, 58 clauses with such a word).",
        _head(_SCHOOL, _DECODER, 2, 6, "q11"),
        (Fact(_DECODER, 2, 6, 11, 9, "krank", "weil", 0.98),),
    ),
    Composition(
        "A participle and its auxiliary",
        "At ‘Küche’, about to write ‘gefunden’, L2 H6 looks five words back at ‘hat’, 0.98 "
        "(0.95 on average, 25 sentences).",
        _head(_KITCHEN, _DECODER, 2, 6, "q7"),
        (Fact(_DECODER, 2, 6, 7, 2, "Küche", "hat", 0.95),),
    ),
    Composition(
        "Where ‘nicht’ comes from",
        "Writing ‘nicht’, L2 H0 puts 0.85 on the bare ‘t’ of ‘didn't’ (0.73 on average, 119 "
        "sentences with ‘n't’): the product of query and key, step by step.",
        replace(_head(_SCHOOL, _CROSS, 2, 0), picture="inside", cell=(3, 4)),
        (Fact(_CROSS, 2, 0, 3, 4, "nicht", "t", 0.82),),
    ),
    Composition(
        "‘nicht’ in two layers",
        "L1 H5 and L2 H0 both write ‘nicht’ from the ‘t’ of ‘didn't’, 0.80 and 0.85 (0.64 and "
        "0.73 on average, 119 sentences).",
        _beside(_map(_SCHOOL, _CROSS, 1, 5), _CROSS, 2, 0),
        (
            Fact(_CROSS, 1, 5, 3, 4, "nicht", "t", 0.78),
            Fact(_CROSS, 2, 0, 3, 4, "nicht", "t", 0.82),
        ),
    ),
    Composition(
        "‘who’ and the noun it stands for",
        "L2 H4 of the encoder leads from ‘who’ to ‘girl’ with 0.97 (0.90 on average, 24 "
        "relative clauses; any previous word gets 0.06).",
        _head(_screen("I know the girl who lives in this house."), _ENCODER, 2, 4, "q4"),
        (Fact(_ENCODER, 2, 4, 4, 3, "who", "girl", 0.95),),
    ),
    Composition(
        "From the first word to the last",
        "L1 H3 of the encoder looks from ‘She’ to the full stop ‘.’, thirteen tokens on, with "
        "0.80 (0.75 on average, 1,047 sentences).",
        _head(_SCHOOL, _ENCODER, 1, 3),
        (Fact(_ENCODER, 1, 3, 0, 13, "She", ".", 0.77),),
    ),
)

_OTHERS = (
    Composition(
        "Copying is a diagonal",
        "L0 H1 of the copy task looks at the very number it writes, at ‘11’ for ‘11’, with 1.00 "
        "(1.00 on average, 200 sequences).",
        _map(_screen("3 7 2 9 4 11 5", "copy", "greedy"), _CROSS, 0, 1),
        (
            Fact(_CROSS, 0, 1, 5, 5, "11", "11", 0.99),
            Fact(_CROSS, 0, 1, 0, 0, "3", "3", 0.99),
        ),
    ),
    Composition(
        "What was just read",
        "L1 H0 of the copy task's decoder stays on the token just read, ‘9’ on ‘9’ with 1.00 "
        "(0.99 on average, 200 sequences).",
        _map(_screen("3 7 2 9 4 11 5", "copy", "greedy"), _DECODER, 1, 0),
        (Fact(_DECODER, 1, 0, 4, 4, "9", "9", 0.96),),
    ),
    Composition(
        "The small translator aligns too",
        "L2 H0 of en-de-small writes ‘Boston’ from ‘Boston’ and ‘wohnt’ from ‘lives’, 1.00 and "
        "0.99 (names 0.99 on average, 78 names).",
        _map(_screen("Tom lives in Boston.", "en-de-small"), _CROSS, 2, 0),
        (
            Fact(_CROSS, 2, 0, 3, 3, "Boston", "Boston", 0.99),
            Fact(_CROSS, 2, 0, 1, 1, "wohnt", "lives", 0.98),
        ),
    ),
    Composition(
        "Who does it",
        "L2 H2 of the sentence writer keeps its eye on the subject: ‘do’ looks five words back "
        "at ‘she’, 0.99 (subject pronouns get 0.38 of its weight, 200 sentences).",
        _head(_screen("She told me that she", "everyday", "greedy"), _DECODER, 2, 2, "q10"),
        (
            Fact(_DECODER, 2, 2, 10, 5, "do", "she", 0.98),
            Fact(_DECODER, 2, 2, 2, 1, "told", "She", 0.98),
        ),
    ),
    Composition(
        "One letter back",
        "L3 H4 of the Shakespeare model looks from the ‘r’ of ‘or’ to its ‘o’ with 0.98 (the "
        "letter before gets 0.40 of its weight, 60 passages).",
        _head(_screen("To be, or not to be", "shakespeare", "greedy"), _DECODER, 3, 4, "q8"),
        (Fact(_DECODER, 3, 4, 8, 7, "r", "o", 0.97),),
    ),
    Composition(
        "A weak one: the word that judges",
        "Every row of L0 H1 favours ‘gorgeous’, ‘witt’ with 0.19 and ‘y’ with 0.15, where 0.11 "
        "would be even (words of praise and blame get 1.35 times an even share, 132 words).",
        _map(_screen("A gorgeous, witty and moving film.", "sentiment", None), _ENCODER, 0, 1),
        (Fact(_ENCODER, 0, 1, 3, 1, "witt", "gorgeous", 0.17),),
    ),
)

GROUPS: Mapping[str, tuple[Composition, ...]] = {
    "The paper's figures": _FIGURES,
    "In the translator": _TRANSLATOR,
    "In the others": _OTHERS,
}
"""Title -> compositions, in the order of the page."""

COMPOSITIONS = tuple(chain.from_iterable(GROUPS.values()))


def story(name: str | None) -> Composition | None:
    """The composition of this name."""
    return next((each for each in COMPOSITIONS if each.name == name), None)


def neighbours(composition: Composition) -> tuple[Composition | None, Composition | None]:
    """The ones before and after it, in the order of the page."""
    place = COMPOSITIONS.index(composition)
    before = COMPOSITIONS[place - 1] if place else None
    return before, next(iter(COMPOSITIONS[place + 1 :]), None)
