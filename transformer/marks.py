"""The signs by which vocabularies say where words begin: one table for every tokenizer."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache

from transformer.token import Token
from transformer.words import CONTINUES, SPACE, SPACES

SPACE_NAMES = frozenset({"<space>", "<sp>", "<w>", "</w>"})
"""Pieces of vocabularies of characters that stand for the space between words."""
BYTE_SPACE = "Ġ"
"""The space in GPT-2's alphabet of bytes."""
UNDERSCORES = 4
"""One piece in so many ends in "_" at least, where that is the end of a word."""


@dataclass(frozen=True)
class Marks:
    """The signs beside the pieces of a vocabulary, which its tokens tell without them."""

    apart: bool = False
    """A space stands before a piece, if no sign says otherwise; False: pieces have their spaces."""
    before: str = ""
    """The sign before a piece that goes on with a word."""
    behind: str = ""
    """The sign behind a piece whose word goes on."""
    end: str = ""
    """It stands behind the last piece of a word."""
    tells: bool = False
    """True: a sign says that there is no space, and the text tells where words begin."""
    in_bytes: bool = False
    """Pieces are written in GPT-2's alphabet of bytes."""

    def token(self, id: int, raw: str, special: bool = False, unknown: bool = False) -> Token:
        """The token of a piece as its vocabulary has it."""
        piece = as_text(raw) if self.in_bytes and not special else raw
        if special or unknown or not self.apart:
            space = " " if piece in SPACE_NAMES and not special else None
            begins_one = True if unknown and self.apart else None
            return Token(id, piece, special, begins_one, unknown, text=space)
        text, joined = piece, None if self.tells else False
        begins: bool | None = True
        ends: bool | None = True
        if self.before and text.startswith(self.before) and (text != self.before or self.tells):
            text, begins = text.removeprefix(self.before), joined
        if self.behind and text.endswith(self.behind) and text != self.behind:
            text, ends = text.removesuffix(self.behind), joined
        if self.end:
            ends = text.endswith(self.end) or _is_named(piece)
            text = text.removesuffix(self.end)
        return Token(id, piece, False, begins, text=None if text == piece else text, ends=ends)

    def whole(self, word: str, is_first: bool) -> str:
        """A word of a text as the piece that is all of it, which a vocabulary may not have."""
        if self.apart:
            return word + self.end
        if not self.in_bytes:
            return SPACE + word
        letters = {byte: letter for letter, byte in byte_alphabet().items()}
        space = "" if is_first else BYTE_SPACE
        return space + "".join(letters[byte] for byte in word.encode())

    def is_in(self, text: str) -> bool:
        """Tell whether a text has the marks of pieces in it, as one that is split already."""
        marks = SPACE, BYTE_SPACE, self.before, self.behind, self.end
        return any(mark and mark in text for mark in marks)


SPACED = Marks()
"""Sentencepiece's ▁, tiktoken's spaces, characters: pieces put together are the text."""
BYTES = Marks(in_bytes=True)
WORDS = Marks(apart=True)
WORDPIECE = Marks(apart=True, before=CONTINUES)
"""WordPiece writes ## before a piece that goes on (Schuster and Nakajima 2012)."""
SIGNS = (
    WORDPIECE,
    Marks(apart=True, before="@@", behind="@@"),  # subword-nmt (Sennrich, Haddow and Birch 2016)
    Marks(apart=True, before="￭", behind="￭", tells=True),  # OpenNMT's joiner
    Marks(apart=True, end="</w>"),  # that paper's BPE, of XLM, GPT, FSMT and CLIP
    Marks(apart=True, end="<w>"),
    Marks(apart=True, end="_"),  # tensor2tensor's subwords
)


def marks_of(pieces: Iterable[str], otherwise: Marks = WORDS) -> Marks:
    """Find the marks of a vocabulary by the signs that most of its pieces have.

    otherwise: those of pieces that have none, and no spaces of their own.
    """
    names = [each for each in pieces if each and not _is_named(each)]
    in_bytes = byte_alphabet().keys() <= {each.removesuffix("</w>") for each in names}
    if all(len(each) == 1 for each in names):
        return BYTES if in_bytes else SPACED
    votes = {SPACED: sum(each[0] in SPACES or each[-1] in SPACES for each in names)}
    votes |= {each: sum(_has(name, each) for name in names) for each in SIGNS}
    votes[BYTES] = sum(each.startswith(BYTE_SPACE) for each in names)
    if votes[SIGNS[-1]] * UNDERSCORES < len(names):
        votes[SIGNS[-1]] = 0
    best = max(votes, key=lambda each: votes[each])
    if not votes[best]:
        return BYTES if in_bytes else otherwise
    return replace(best, in_bytes=True) if in_bytes and best.end else best


def _is_named(piece: str) -> bool:
    """Tell whether a piece is a name in brackets, as of special tokens and bytes, and no text."""
    return len(piece) > 2 and piece[0] in "<[" and piece[-1] in ">]"


def _has(piece: str, marks: Marks) -> bool:
    """Tell whether a piece has a sign beside letters or digits, as no sign of a text has."""
    starts = bool(marks.before) and piece.startswith(marks.before)
    ends = any(sign and piece.endswith(sign) for sign in (marks.behind, marks.end))
    is_text = any(map(str.isalnum, piece.removesuffix(marks.end)))
    return (starts or ends) and (is_text or marks.tells)


# Byte-level vocabularies: their pieces are bytes, written in GPT-2's alphabet of them.


@cache
def byte_alphabet() -> dict[str, int]:
    """Character -> byte, as GPT-2 writes them: printable ones as they are, others shifted."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    shifted = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {
        chr(256 + i): byte for i, byte in enumerate(shifted)
    }


def as_text(raw: str) -> str:
    """A piece of a byte-level vocabulary as text; see `bytes_as_text`."""
    alphabet = byte_alphabet()
    if any(character not in alphabet for character in raw):
        return raw  # added beside the vocabulary, in plain text
    return bytes_as_text(bytes(alphabet[character] for character in raw))


def bytes_as_text(raw: bytes) -> str:
    """Bytes as a piece: ▁ for a space, and those that are no whole character by their numbers.

    >>> bytes_as_text(b" caf\\xc3")
    '▁caf<0xC3>'
    """
    plain = raw.decode("utf-8", "surrogateescape").replace(" ", SPACE)
    return re.sub("[\udc80-\udcff]", lambda half: f"<0x{ord(half[0]) - 0xDC00:02X}>", plain)
