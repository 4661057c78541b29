"""A word as far as it is written: the name of a step and its candidates where words are shown."""

from collections.abc import Sequence

from transformer.token import Token
from transformer.words import CONTINUES, is_byte, word_groups
from viz.labels import word_label, word_text

MOST = 12
"""Characters of a word: those at its end, which differ."""
MOST_BEFORE = 32
"""Tokens among which the beginning of a word is looked for."""
CUT_SHORT = "\ufffd"
"""The sign of bytes that end no character."""


def is_part(token: Token) -> bool:
    """Tell whether a token begins no word, whatever stands before it.

    >>> is_part(Token(3, "ked")), is_part(Token(2, "▁na")), is_part(Token(4, "<0xC3>"))
    (True, False, True)
    """
    return is_byte(token) or word_label(token).startswith(("·", CONTINUES))


def word_so_far(before: Sequence[Token], token: Token) -> str:
    """The word that a token would make of those before it, as far as it then stands.

    One that begins a word is by itself. So is a byte that ends no character, as its piece.

    >>> word_so_far([Token(2, "▁na")], Token(3, "ked")), word_so_far([], Token(3, "ked"))
    ('naked', '·ked')
    """
    alone = word_label(token)
    if not is_part(token):
        return alone
    tokens = (*before[-MOST_BEFORE:], token)
    group = word_groups(tokens)[-1]
    text = word_text([tokens[i] for i in group])
    if len(group) == 1 or CUT_SHORT in text:
        return alone
    return text if len(text) <= MOST else f"…{text[1 - MOST :]}"
