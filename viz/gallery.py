"""Compositions: effects that are really there, each with a link, a sentence and its facts.

Data only. Every weight that a sentence names is a fact: a test runs the checkpoint on the text and
finds the weight there. Means are over sentences that the facts are an example of; how many is said,
and `python -m tests.gallery --data DIR` measures those of en-de again.
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
_MUSIC = _screen("Didn't you hear the music?")
_HOUSE = _screen("I have never seen such a beautiful house.")
_LIVES = _screen("She lives in a small house.")
_WOMAN = _screen("The woman will certainly come when she has time.")
_BOOK = _screen("My mother read the book because she was ill.")
_ANIMAL = _screen("The animal didn't cross the street because it was too tired.")
_SCHOOL = _screen("She didn't come to school yesterday because she was ill.")
_QUESTION = _screen("I don't understand the question.")
_KITCHEN = _screen("Tom has found his keys in the kitchen.")
_SCHOOL_WORD = Fact(_CROSS, 2, 3, 5, 7, "Schule", "school", 0.98)

_FIGURES = (
    Composition(
        "Figure 3: five heads, one distant verb",
        "Five of the eight heads of the encoder's last layer lead from ‘Did’ to its verb "
        "‘hear’, five tokens on, with 0.53 to 0.99 (H7 gives 0.79 on average in 44 questions with "
        "‘didn't’, 0.67 in 14 with ‘doesn't’).",
        replace(_head(_MUSIC, _ENCODER, 2, 7, "q0"), heads=(1, 2, 3, 4, 7)),
        tuple(
            Fact(_ENCODER, 2, head, 0, 5, "Did", "hear", least)
            for head, least in ((1, 0.65), (2, 0.51), (3, 0.89), (4, 0.61), (7, 0.97))
        ),
    ),
    Composition(
        "Figure 4, top: one head in full",
        "Most lines of L2 H6 of the decoder are short, two are long: ‘wenn’, about to write "
        "‘sie’, looks five tokens back at ‘Die’ (0.64), and ‘hat’ six back at ‘kommt’ (0.60).",
        _head(_WOMAN, _DECODER, 2, 6),
        (
            Fact(_DECODER, 2, 6, 6, 1, "wenn", "Die", 0.62),
            Fact(_DECODER, 2, 6, 9, 3, "hat", "kommt", 0.58),
        ),
    ),
    Composition(
        "Figure 4, bottom: from one word",
        "At ‘wenn’, about to write ‘sie’, H2 looks at the noun ‘Frau’, 0.62, and H6 at its "
        "article ‘Die’, 0.64; where one noun, the subject, stands before a conjunction and ‘er’ or "
        "‘sie’, H2 gives it 0.42 on average (36 sentences; from other rows 0.11).",
        replace(_head(_WOMAN, _DECODER, 2, 2, "q6"), heads=(2, 6)),
        (
            Fact(_DECODER, 2, 2, 6, 2, "wenn", "Frau", 0.6),
            Fact(_DECODER, 2, 6, 6, 1, "wenn", "Die", 0.62),
        ),
    ),
    Composition(
        "Figure 5: two heads, two directions",
        "H4 looks ahead to the noun (‘a’ → ‘house’ 1.00), H6 back to what opened the phrase "
        "(‘small’ → ‘in’ 0.88): an article two words before its noun gives it 0.89 of H4, "
        "against 0.13 for any word two ahead (89 articles of English EWT).",
        _beside(_head(_LIVES, _ENCODER, 2, 4), _ENCODER, 2, 6),
        (
            Fact(_ENCODER, 2, 4, 3, 5, "a", "house", 0.97),
            Fact(_ENCODER, 2, 6, 4, 2, "small", "in", 0.86),
        ),
    ),
    Composition(
        "A pronoun with two candidates",
        "At ‘weil’, about to write ‘sie’, L2 H2 puts 0.49 on ‘Mutter’ and 0.08 on ‘Buch’: of a "
        "person and a thing the person gets 0.45 on average and the thing 0.08 (10 sentences); of "
        "two people the subject gets 0.44 and the other 0.13 (10).",
        _head(_BOOK, _DECODER, 2, 2, "q7"),
        (Fact(_DECODER, 2, 2, 7, 2, "weil", "Mutter", 0.47),),
    ),
    Composition(
        "It looks like anaphora, and finds the wrong noun",
        "At ‘weil’, about to write ‘es’, L1 H7 of the decoder puts 0.61 on ‘Straße’ and 0.07 on "
        "the animal, which was tired: of two nouns the object gets 0.43 on average, the subject "
        "0.11, whichever of them is meant (9 pairs of sentences).",
        _head(_ANIMAL, _DECODER, 1, 7, "q9"),
        (Fact(_DECODER, 1, 7, 9, 6, "weil", "Straße", 0.58),),
    ),
)

_TRANSLATOR = (
    Composition(
        "A word and its translation",
        "Writing ‘Schule’, L2 H3 puts 1.00 on ‘school’ (a name finds itself with 0.84 on "
        "average, 128 names).",
        _map(_SCHOOL, _CROSS, 2, 3),
        (_SCHOOL_WORD, Fact(_CROSS, 2, 3, 8, 10, "sie", "she", 0.94)),
    ),
    Composition(
        "The same rows, named by what was read",
        "The same weights, but the row that looks at ‘school’ and writes ‘Schule’ is now called "
        "‘zur’, which it had read: by such labels a name finds itself with 0.02, not 0.84 (128 "
        "names).",
        replace(_map(_SCHOOL, _CROSS, 2, 3), rows="read"),
        (_SCHOOL_WORD,),
    ),
    Composition(
        "A verb fetched from afar",
        "The last word to be written is ‘gefunden’, and L2 H2 reaches over five words to "
        "‘found’, 0.99 (0.94 on average, 13 participles).",
        replace(_KITCHEN, page="decode", layer=2, head=2, step=7),
        (Fact(_CROSS, 2, 2, 7, 2, "gefunden", "found", 0.98),),
    ),
    Composition(
        "Why the verb waits",
        "At ‘krank’, about to write the clause's verb ‘war’, L2 H6 puts 0.99 on ‘weil’, which "
        "sends it to the end (0.91 on average, 62 clauses with such a word).",
        _head(_SCHOOL, _DECODER, 2, 6, "q10"),
        (Fact(_DECODER, 2, 6, 10, 8, "krank", "weil", 0.97),),
    ),
    Composition(
        "A participle and its auxiliary",
        "At ‘Küche’, about to write ‘gefunden’, L2 H6 looks five words back at ‘hat’, 0.95 "
        "(0.96 on average, 13 sentences).",
        _head(_KITCHEN, _DECODER, 2, 6, "q7"),
        (Fact(_DECODER, 2, 6, 7, 2, "Küche", "hat", 0.93),),
    ),
    Composition(
        "Where ‘nicht’ comes from",
        "Writing ‘nicht’, L2 H0 puts 0.91 on the bare ‘t’ of ‘don't’ (0.73 on average, 113 "
        "sentences with ‘n't’): the product of query and key, step by step.",
        replace(_head(_QUESTION, _CROSS, 2, 0), picture="inside", cell=(4, 3)),
        (Fact(_CROSS, 2, 0, 4, 3, "nicht", "t", 0.89),),
    ),
    Composition(
        "‘nicht’ in two layers",
        "L1 H5 and L2 H0 both write ‘nicht’ from the ‘t’ of ‘don't’, 0.78 and 0.91 (0.61 and "
        "0.73 on average, 113 sentences); some rows before it look there, too, none after it.",
        _beside(_map(_QUESTION, _CROSS, 1, 5), _CROSS, 2, 0),
        (
            Fact(_CROSS, 1, 5, 4, 3, "nicht", "t", 0.75),
            Fact(_CROSS, 2, 0, 4, 3, "nicht", "t", 0.89),
        ),
    ),
    Composition(
        "‘who’ and the noun it stands for",
        "L2 H4 of the encoder leads from ‘who’ to ‘man’ with 0.99 (0.77 on average, 151 "
        "relative clauses; any previous word gets 0.04).",
        _head(_screen("I know the man who likes music."), _ENCODER, 2, 4, "q4"),
        (Fact(_ENCODER, 2, 4, 4, 3, "who", "man", 0.96),),
    ),
    Composition(
        "From the first word to the last",
        "L1 H3 of the encoder looks from ‘I’ to the full stop ‘.’, eight tokens on, with "
        "0.58 (0.55 on average, 500 sentences).",
        _head(_HOUSE, _ENCODER, 1, 3),
        (Fact(_ENCODER, 1, 3, 0, 8, "I", ".", 0.56),),
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
        "L2 H2 of en-de-small writes ‘wohnt’ from ‘live’ and ‘Boston’ from ‘Boston’, 0.99 and "
        "0.96 (names 0.94 on average, 40 sentences).",
        _map(_screen("Tom lives in Boston.", "en-de-small"), _CROSS, 2, 2),
        (
            Fact(_CROSS, 2, 2, 1, 1, "wohnt", "live", 0.98),
            Fact(_CROSS, 2, 2, 3, 4, "Boston", "Boston", 0.95),
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
