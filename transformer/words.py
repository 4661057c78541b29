"""The pieces that make a word, by one rule for every tokenizer, and how such a word reads."""

import codecs
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from transformer.refusal import quoted
from transformer.token import Token

RULE = (
    "A word is a run of letters and digits, with the space before it, the apostrophes and hyphens "
    "inside it and the points and commas between its digits; every other sign, every special "
    "token and every number of a model that reads numbers is by itself; in scripts that write no "
    "spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese), and where a tokenizer marks the pieces "
    "that are joined to a word (##, @@, </w>) or has whole words only, its pieces decide."
)
"""The rule of `word_groups`, in a sentence for people."""

SPACE, CONTINUES = "▁", "##"
"""The sign that begins a word in sentencepiece; the one that WordPiece writes before a piece that
goes on with one (Schuster and Nakajima 2012)."""

SPACES = " ▁"
"""The characters that stand for the space before a word."""

ALONE, LETTER = "\0", "a"
"""They stand for a token that is a word by itself, and for a word that the vocabulary lacks."""
PATTERN = re.compile(
    r"""
    [ ]*                          # the space that begins it, ▁ in sentencepiece
    (?: [ahn][ahnmz]*
        (?: '[ahn][ahnmz]*        # didn't, well-known
          | (?<=[hm])"(?=h)[ahnmz]*  # an abbreviation in Hebrew
          | (?<=n),(?=n)[ahnmz]*  # 3.50 and 10,000
        )*
      | rr?[mz]*                  # a flag
      | [^ |][mz]*                # a sign, or a letter of a script without spaces
        (?: (?<=z)![mz]* )*       # joined emoji, letters written below others
    )
    | [ ]+                        # spaces that begin nothing
    | \|                          # a token by itself
    """,
    re.VERBOSE,
)
"""A word of a text, each of whose characters is written as its class (`class_of`)."""
_UNSPACED = (
    *("CJK ", "IDEOGRAPHIC ", "KANGXI ", "HIRAGANA ", "HENTAIGANA ", "KATAKANA", "HALFWIDTH KATA"),
    *("BOPOMOFO ", "YI SYLLABLE ", "TANGUT ", "NUSHU ", "THAI ", "LAO ", "KHMER ", "MYANMAR "),
    *("TAI ", "NEW TAI LUE ", "AHOM ", "JAVANESE ", "BALINESE ", "SUNDANESE ", "TIBETAN "),
)
"""The beginnings of letters' names in scripts that write no space between words (Unicode Standard
Annex 14, class SA; and those of East Asia)."""
_CLASSES = {
    ALONE: "|",
    **dict.fromkeys(" ▁", " "),
    **dict.fromkeys("'’＇-‐‑־·‧׳״", "'"),
    **dict.fromkeys(".,٫٬", ","),
    '"': '"',
    **dict.fromkeys("\u200d\u1039\u17d2\u1a60", "z"),
    **dict.fromkeys("🏻🏼🏽🏾🏿", "m"),
    **{chr(i): "r" for i in range(0x1F1E6, 0x1F200)},
}


def word_groups(tokens: Sequence[Token]) -> tuple[tuple[int, ...], ...]:
    """The positions of each word, in order: every position is in one word.

    A token begins a word where a word of the whole text begins at its first character, or behind
    spaces that the one before it ends with. Byte pieces are read as the characters that they spell
    together.
    """
    return _groups(tuple(tokens))


@lru_cache(maxsize=512)
def _groups(tokens: tuple[Token, ...]) -> tuple[tuple[int, ...], ...]:
    """The same: everything that is drawn of a text asks for its words."""
    later = [i for i in _beginnings(tokens) if i]
    return tuple(tuple(range(a, b)) for a, b in pairwise([0, *later, len(tokens)]) if a < b)


def _beginnings(tokens: Sequence[Token]) -> Iterator[int]:
    """The tokens that begin a word: by the tokenizer's own marks, else by the text they spell."""
    text, starts = _text(tokens)
    begun = begun_at(text)
    for i in range(1, len(tokens)):
        before, token = tokens[i - 1], tokens[i]
        is_alone = stands_alone(before) or stands_alone(token)
        is_joined = before.ends is False or token.begins is False
        is_told = bool(token.begins and before.ends) or begun.get(starts[i], -1) > starts[i - 1]
        if is_alone or (is_told and not is_joined):
            yield i


def begun_at(text: str) -> dict[int, int]:
    """Map the places where words of a text begin, spaces before them included, to the first."""
    begun: dict[int, int] = {}
    for match in PATTERN.finditer(_classes(text)):
        spaces = len(match[0]) - len(match[0].lstrip(" "))
        places = range(match.start(), match.start() + spaces + 1)
        begun |= dict.fromkeys(places, match.start())
    return begun


class Word(NamedTuple):
    """A word of a text."""

    number: int
    """Its place among the words, from 0."""
    positions: tuple[int, ...]
    """The positions of its tokens."""
    tokens: tuple[Token, ...]

    def __repr__(self) -> str:
        return f"Word({self.number}, {quoted(self.text, 40)}, at {quoted(self.positions, 40)})"

    @property
    def piece(self) -> str:
        """Its pieces joined."""
        return word_piece(self.tokens)

    @property
    def text(self) -> str:
        """The same without the space before it."""
        return self.piece.strip(SPACES)


class TextWords(tuple[Word, ...]):
    """The words of a text, in order."""

    def __repr__(self) -> str:
        return f"TextWords({len(self)} words: {quoted(' '.join(each.text for each in self), 80)})"

    def at(self, position: int) -> Word:
        """The word that the token at a position belongs to. Raises IndexError where none is."""
        word = self[bisect_right(self, position, key=lambda each: each.positions[0]) - 1]
        if position not in word.positions:
            raise IndexError(f"There is no token at {position}.")
        return word


def words_in(tokens: Sequence[Token]) -> TextWords:
    """The words that tokens make.

    >>> words = words_in([Token(i, piece) for i, piece in enumerate(("▁rain", "s", "."))])
    >>> words.at(1).number, words.at(1).positions, words.at(1).text
    (0, (0, 1), 'rains')
    """
    groups = enumerate(word_groups(tokens))
    return TextWords(Word(i, group, tuple(tokens[at] for at in group)) for i, group in groups)


def word_piece(tokens: Sequence[Token]) -> str:
    """The pieces of a word joined, bytes as the characters that they spell, marks left out."""
    if len(tokens) == 1 and tokens[0].text is None:
        character = tokens[0].character
        return character if character > " " and character.isprintable() else tokens[0].piece
    return "".join(characters(tokens))


def text_of(tokens: Sequence[Token]) -> str:
    """The text that tokens spell, where the tokenizer has no function for it.

    >>> text_of([Token(0, "lo@@", begins=True, text="lo", ends=False), Token(1, "w", begins=True)])
    'low'
    """
    return "".join(spelled(tokens)).replace(SPACE, " ")


def words_of(tokens: Sequence[Token]) -> list[str]:
    """The texts of the words that tokens make."""
    return [word.text for word in words_in(tokens)]


def text_words(text: str) -> list[str]:
    """Return the words of a text by the same rule, without the spaces before them.

    No piece decides here: a letter of a script without spaces is a word by itself.

    >>> text_words("He didn't pay 3.50!")
    ['He', "didn't", 'pay', '3.50', '!']
    """
    parts = (text[m.start() : m.end()].strip() for m in PATTERN.finditer(_classes(text)))
    return [word for word in parts if word]


def _text(tokens: Sequence[Token]) -> tuple[str, list[int]]:
    """All characters, and where in them each token begins; what stands alone is one."""
    text, starts = "", []
    for token, added in zip(tokens, spelled(tokens), strict=True):
        starts.append(len(text))
        # What is missing is a word: its piece is none, and goes on where no space is before it.
        text += ALONE if stands_alone(token) else LETTER if token.unknown else added
    return text, starts


def spelled(tokens: Sequence[Token]) -> list[str]:
    """List what each token adds to the text, with the space before it where that is marked."""
    added = characters(tokens)
    for i, (before, token) in enumerate(pairwise(tokens), start=1):
        if token.begins and before.ends:
            added[i] = f" {added[i]}"
    return added


def characters(tokens: Sequence[Token]) -> list[str]:
    """List what each token adds to its word; a character's last byte adds the whole of it."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    added: list[str] = []
    for token in tokens:
        text = ""
        for part in token.parts:
            if isinstance(part, bytes):
                text += decoder.decode(part)
                continue
            cut_short = decoder.decode(b"", final=True)  # a character that is not whole
            decoder.reset()
            if added and not text:
                added[-1] += cut_short
            else:
                text += cut_short
            text += part
        added.append(text)
    if added:
        added[-1] += decoder.decode(b"", final=True)
    return added


def stands_alone(token: Token) -> bool:
    """Special tokens, and numbers: their piece is their own id."""
    return token.special or token.piece == str(token.id)


def _classes(text: str) -> str:
    return "".join(map(class_of, text))


@cache
def class_of(character: str) -> str:
    """Return what a character is to PATTERN.

    a letter, h one of Hebrew, n number, m mark, z joins the next, r half a flag, space, and signs.
    """
    if character in _CLASSES:
        return _CLASSES[character]
    category, name = unicodedata.category(character), unicodedata.name(character, "")
    if category[0] in "LN" and category != "Nd" and name.startswith(_UNSPACED):
        return "!"
    if category == "Cf" or category[0] == "M":
        return "m"
    return "h" if name.startswith("HEBREW LETTER") else {"L": "a", "N": "n"}.get(category[0], "!")
