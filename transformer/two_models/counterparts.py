"""The tokens of one text that stand for those of another, by the words that both have."""

from collections.abc import Sequence
from difflib import SequenceMatcher

from transformer.token import Token
from transformer.words import word_groups, words_of


def counterparts(tokens: Sequence[Token], other: Sequence[Token]) -> list[int]:
    """Return for each token the place of its counterpart in another text; -1 where it has none.

    Words are aligned by the longest runs that both texts have. Between two such runs words stand
    for each other where both texts have as many there. The pieces of a word pair off in their
    order; what is left over of the longer one goes to the last piece of the shorter one.
    """
    places = [-1] * len(tokens)
    own, others = word_groups(tokens), word_groups(other)
    for word, other_word in _pairs(words_of(tokens), words_of(other)):
        theirs = others[other_word]
        for number, place in enumerate(own[word]):
            places[place] = theirs[min(number, len(theirs) - 1)]
    return places


def _pairs(words: Sequence[str], others: Sequence[str]) -> list[tuple[int, int]]:
    codes = SequenceMatcher(None, words, others, autojunk=False).get_opcodes()
    parts = [(range(a, b), range(c, d)) for _, a, b, c, d in codes if b - a == d - c]
    return [pair for own, other in parts for pair in zip(own, other, strict=True)]
