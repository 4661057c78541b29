"""Tokens: the entries of a vocabulary, each an id with its piece, the text of that id.

A candidate is a token with the probability that it is written in some place."""

import copyreg
import re
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from transformer.field_docs import fields_in_help
from transformer.in_a_line import in_a_line

UNKNOWN = ("<unk>", "[UNK]")
"""Pieces that stand for whatever a vocabulary lacks."""
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")


@fields_in_help
@dataclass(frozen=True)
@in_a_line
class Token:
    """One vocabulary entry."""

    id: int
    """Its place in the vocabulary; below 0: no vocabulary has it."""
    piece: str
    """Its entry in the vocabulary, with the signs that a tokenizer puts there."""
    special: bool = False
    """True: padding, start, end and the like."""
    begins: bool | None = None
    """True: a word begins here, where the tokenizer marks that; None: the text tells."""
    unknown: bool = False
    """True: it stands for a word of the text that the vocabulary lacks. It is no special token, and
    is shown as a word that is missing."""
    segment: Literal["A", "B"] | None = None
    """The text of a pair that it was read in; None: there was one text."""
    text: str | None = None
    """Its text, without the sign by which a tokenizer joins it, as in "lo@@"; None: its piece."""
    ends: bool | None = True
    """False: its word goes on in the next token, where the tokenizer marks that; None: no space is
    between them, and the text tells."""

    @property
    def parts(self) -> list[str | bytes]:
        """Its text in parts, of which a byte of a character that is not whole is one by itself.

        >>> Token(7, "▁<0xE2><0x98>").parts
        ['▁', b'\\xe2', b'\\x98']
        """
        text = self.piece if self.text is None else self.text
        if self.special or "<0x" not in text:
            return [text]
        every = _BYTE.split(text)  # text and the digits of a byte, in turn
        return [bytes([int(it, 16)]) if i % 2 else it for i, it in enumerate(every) if it]

    @property
    def has_bytes(self) -> bool:
        """Tell whether a byte of a character that is not whole is in its text."""
        return any(isinstance(part, bytes) for part in self.parts)

    @property
    def byte(self) -> int | None:
        """The byte of a character that its piece is, as "<0xE2>"; None: it is none."""
        match = None if self.special else _BYTE.fullmatch(self.piece)
        return int(match[1], 16) if match else None

    @property
    def character(self) -> str:
        """The character that a piece of one byte is by itself; "" where it is none.

        >>> Token(7, "<0x3E>").character, Token(8, "<0xE2>").character
        ('>', '')
        """
        return chr(self.byte) if self.byte is not None and self.byte < 128 else ""


def n_words(keys: Sequence[Token]) -> int:
    """Count the keys before those that a model adds behind them, which no vocabulary has.

    >>> n_words([Token(5, "It"), Token(2, "</s>", special=True), Token(-1, "sink", special=True)])
    2
    """
    n = len(keys)
    while n and keys[n - 1].id < 0:
        n -= 1
    return n


@fields_in_help
@dataclass(frozen=True)
@in_a_line
class Candidate:
    """One token that could have been written in a place."""

    token: Token
    prob: float
    """Its probability by the model, 0 to 1."""
    after: float | None = None
    """Its probability after the rules that the folder has for writing; None: it has none."""


def second_at(tokens: Sequence[Token]) -> int | None:
    """Position of the first token of a pair's second text; None: there is one text."""
    return next((i for i, token in enumerate(tokens) if token.segment == "B"), None)


# Read-only mappings that can be copied, and sent to other processes: Python pickles none.
#
# It holds from when this is imported, as by `transformer`, for whatever holds such a mapping.


def read_only(values: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    """A view of a dict that nothing writes through; by this name it is opened elsewhere."""
    return MappingProxyType(values)


def _parts(mapping: MappingProxyType[Any, Any]) -> tuple[Any, tuple[dict[Any, Any]]]:
    return read_only, (dict(mapping),)


copyreg.pickle(MappingProxyType, _parts)
