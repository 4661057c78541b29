"""Compositions: effects that are really there, each with a link, a sentence and its facts.

Data only. Every weight that a sentence names is a fact: a test runs the checkpoint on the text and
finds the weight there. Means are over sentences that the facts are an example of; how many is said.
"""

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


def _screen(text: str, checkpoint: str = "en-de", decoding: str | None = "beam") -> Screen:
    """decoding: None where nothing is written."""
    return Screen(checkpoint=checkpoint, text=text, decoding=decoding)


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
_BROTHER = _screen("Why doesn't your brother eat the meat?")
_TEACHER = _screen("I have to give the old book back to my teacher.")
_MOTHER = _screen("My mother went to bed early because she was tired.")
_ANIMAL = _screen("The animal didn't cross the street because it was too tired.")
_SCHOOL = _screen("She didn't come to school yesterday because she was ill.")
_KITCHEN = _screen("Tom has found his keys in the kitchen.")
_SCHOOL_WORD = Fact(_CROSS, 2, 3, 5, 7, "Schule", "school", 0.99)

_FIGURES = (
    Composition(
        "Figure 3: five heads, one distant verb",
        "Five of the eight heads of the encoder's last layer lead from ‘does’ to its verb "
        "‘eat’, six tokens on, with 0.54 to 1.00 (H7 gives 0.99 on average in 60 questions with "
        "‘do’ or ‘does’, 0.07 in 60 with ‘did’).",
        replace(_head(_BROTHER, _ENCODER, 2, 7, "q1"), heads=(1, 2, 3, 4, 7)),
        tuple(
            Fact(_ENCODER, 2, head, 1, 7, "does", "eat", least)
            for head, least in ((1, 0.9), (2, 0.75), (3, 0.92), (4, 0.5), (7, 0.99))
        ),
    ),
    Composition(
        "Figure 4, top: one head in full",
        "Most lines of L2 H2 of the decoder are short, two are long: ‘weil’, about to write "
        "‘sie’, looks six words back at ‘Mutter’ (0.97), and the full stop at the start (0.99).",
        _head(_MOTHER, _DECODER, 2, 2),
        (
            Fact(_DECODER, 2, 2, 8, 2, "weil", "Mutter", 0.96),
            Fact(_DECODER, 2, 2, 12, 0, ".", "<s>", 0.98),
        ),
    ),
    Composition(
        "Figure 4, bottom: from one word",
        "At ‘weil’, about to write ‘sie’, H2 and H6 both look at ‘Mutter’, 0.97 each; where one "
        "noun stands before a pronoun, H2 gives it 0.83 on average (28 sentences; from other "
        "rows 0.13).",
        replace(_head(_MOTHER, _DECODER, 2, 2, "q8"), heads=(2, 6)),
        (
            Fact(_DECODER, 2, 2, 8, 2, "weil", "Mutter", 0.96),
            Fact(_DECODER, 2, 6, 8, 2, "weil", "Mutter", 0.96),
        ),
    ),
    Composition(
        "Figure 5: two heads, two halves of a phrase",
        "H4 looks ahead to the noun (‘my’ → ‘teacher’ 1.00), H6 back to what opened the phrase "
        "(‘teacher’ → ‘to’ 0.87): an article two words before its noun gives it 0.48 of H4, "
        "against 0.13 for any word two ahead (111 articles of English EWT).",
        _beside(_head(_TEACHER, _ENCODER, 2, 4), _ENCODER, 2, 6),
        (
            Fact(_ENCODER, 2, 4, 9, 10, "my", "teacher", 0.99),
            Fact(_ENCODER, 2, 4, 4, 6, "the", "book", 0.99),
            Fact(_ENCODER, 2, 6, 10, 8, "teacher", "to", 0.85),
            Fact(_ENCODER, 2, 6, 9, 8, "my", "to", 0.97),
        ),
    ),
    Composition(
        "A pronoun with two candidates",
        "At ‘weil’, about to write ‘es’, L2 H2 puts 0.98 on ‘Straße’ and 0.01 on ‘Tier’, with "
        "‘wide’ for ‘tired’ alike: of two nouns the object wins, 0.78 for ‘it’, 0.67 for ‘he’ "
        "or ‘she’ (16 pairs).",
        _head(_ANIMAL, _DECODER, 2, 2, "q9"),
        (Fact(_DECODER, 2, 2, 9, 7, "weil", "Straße", 0.97),),
    ),
    Composition(
        "It looks like anaphora, and is not",
        "L1 H3 of the encoder leads from ‘it’ to ‘street’ with 0.98, but with ‘she’ or ‘nobody’ "
        "in its place nearly as much (0.99, 0.95 and 0.90 on average, 8 sentences): it finds "
        "the object.",
        _head(_ANIMAL, _ENCODER, 1, 3, "q11"),
        (Fact(_ENCODER, 1, 3, 11, 8, "it", "street", 0.97),),
    ),
)

_TRANSLATOR = (
    Composition(
        "A word and its translation",
        "Writing ‘Schule’, L2 H3 puts 1.00 on ‘school’ (a name finds itself with 0.95 on "
        "average, 98 names).",
        _map(_SCHOOL, _CROSS, 2, 3),
        (_SCHOOL_WORD, Fact(_CROSS, 2, 3, 1, 1, "kam", "did", 0.9)),
    ),
    Composition(
        "The same rows, named by what was read",
        "The same weights, but the row that looks at ‘school’ and writes ‘Schule’ is now called "
        "‘zur’, which it had read: by such labels a name finds itself with 0.01, not 0.95 (98 "
        "names).",
        replace(_map(_SCHOOL, _CROSS, 2, 3), rows="read"),
        (_SCHOOL_WORD,),
    ),
    Composition(
        "A verb fetched from afar",
        "The last word to be written is ‘gefunden’, and L2 H2 reaches over five words to "
        "‘found’, 0.96 (0.93 on average, 20 participles).",
        replace(_KITCHEN, page="decode", layer=2, head=2, step=7),
        (Fact(_CROSS, 2, 2, 7, 2, "gefunden", "found", 0.95),),
    ),
    Composition(
        "Why the verb waits",
        "At ‘krank’, about to write the clause's verb ‘war’, L2 H6 puts 1.00 on ‘weil’, which "
        "sends it to the end (0.92 on average, 35 clauses; so do the clause's other words).",
        _head(_SCHOOL, _DECODER, 2, 6, "q10"),
        (Fact(_DECODER, 2, 6, 10, 8, "krank", "weil", 0.99),),
    ),
    Composition(
        "A participle and its auxiliary",
        "At ‘Küche’, about to write ‘gefunden’, L2 H6 looks five words back at ‘hat’, 1.00 "
        "(0.96 on average, 20 sentences).",
        _head(_KITCHEN, _DECODER, 2, 6, "q7"),
        (Fact(_DECODER, 2, 6, 7, 2, "Küche", "hat", 0.99),),
    ),
    Composition(
        "Where ‘nicht’ comes from",
        "Writing ‘nicht’, L2 H0 puts 1.00 on the bare ‘t’ of ‘didn't’ (0.98 on average, 18 "
        "sentences): the product of query and key, step by step.",
        replace(_head(_SCHOOL, _CROSS, 2, 0), picture="inside", cell=(3, 4)),
        (Fact(_CROSS, 2, 0, 3, 4, "nicht", "t", 0.99),),
    ),
    Composition(
        "‘nicht’ in two layers",
        "L1 H5 and L2 H0 both write ‘nicht’ from the ‘t’ of ‘didn't’, 1.00 each (0.97 and 0.98 on "
        "average, 18 sentences).",
        _beside(_map(_SCHOOL, _CROSS, 1, 5), _CROSS, 2, 0),
        (
            Fact(_CROSS, 1, 5, 3, 4, "nicht", "t", 0.99),
            Fact(_CROSS, 2, 0, 3, 4, "nicht", "t", 0.99),
        ),
    ),
    Composition(
        "‘who’ and the noun it stands for",
        "L2 H4 of the encoder leads from ‘who’ to ‘girl’ with 1.00 (0.83 on average, 24 "
        "relative clauses; any previous word gets 0.09).",
        _head(_screen("I know the girl who lives in this house."), _ENCODER, 2, 4, "q4"),
        (Fact(_ENCODER, 2, 4, 4, 3, "who", "girl", 0.99),),
    ),
    Composition(
        "From the first word to the last",
        "L1 H3 of the encoder looks from ‘The’ to the full stop ‘.’, fifteen tokens on, with "
        "1.00 (1.00 on average, 348 sentences).",
        _head(_ANIMAL, _ENCODER, 1, 3),
        (Fact(_ENCODER, 1, 3, 0, 15, "The", ".", 0.99),),
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
