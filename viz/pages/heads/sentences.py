"""Rows of a head in the sentences of its survey: their text, with query and key marked in it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from transformer.analysis.tables.origins import Side
from transformer.corpus.atlas import Atlas
from transformer.corpus.shipped import Place
from transformer.corpus.surveyed import Decile
from transformer.corpus.surveyed import Row as HeadRow
from transformer.token import Token
from transformer.words import begins_word, word_piece
from viz.figures.heads.rows_table import RowInSentence
from viz.labels import in_word, number
from viz.screen import Screen, link
from viz.state.head_links import in_sentence

SPACE = "▁"
SPACES = SPACE, " "
"""A space that is a piece by itself; models of characters have the second one."""


def rows_of(
    atlas: Atlas, place: Place, rows: Iterable[HeadRow], screen: Screen, group: str = ""
) -> list[RowInSentence]:
    """These rows of a head, each with the address that opens it on Explore."""
    return [_row(atlas, place, row, screen, group) for row in rows]


def group_of(decile: Decile) -> str:
    """The weights of a decile, and its share of the rows."""
    return f"{number(decile.low)} to {number(decile.high)}"


@dataclass(frozen=True)
class _Sentence:
    """A sentence of a survey as the rows of every head show it."""

    text: str
    parts: Sequence[tuple[int, int]]
    """The letters of each piece along the columns."""
    read: tuple[Token, ...]
    column: tuple[Token, ...]
    named: tuple[Token, ...]
    """The names of the rows."""
    written: tuple[Token, ...]
    """The same, where they are not those that were read; else none."""


_SENTENCES: WeakKeyDictionary[Atlas, dict[tuple[str, int], _Sentence]] = WeakKeyDictionary()
"""Made once a survey: heads have rows of the same ones."""


def _sentence(atlas: Atlas, kind: str, line: int) -> _Sentence:
    cache = _SENTENCES.setdefault(atlas, {})
    if (kind, line) not in cache:
        queries, keys, names = atlas.shipped.pieces_of(kind, line)
        source = atlas.shipped.sentences[line]
        is_apart = " " in source and not any(space in "".join(keys) for space in SPACES)
        read, column, named = (tokens_of(side, is_apart) for side in (queries, keys, names))
        written = () if names == queries else named
        cache[kind, line] = _Sentence(*spread(keys, is_apart), read, column, named, written)
    return cache[kind, line]


def _row(atlas: Atlas, place: Place, row: HeadRow, screen: Screen, group: str) -> RowInSentence:
    shipped, kind = atlas.shipped, place[0]
    of = _sentence(atlas, kind, row.sentence)
    is_same = shipped.sides[kind][0] == shipped.sides[kind][1]
    chosen = sorted({row.key, row.query} if is_same else {row.key})
    marked = tuple(of.parts[at] for at in chosen if at < len(of.parts))
    source, writes = shipped.sentences[row.sentence], bool(shipped.targets)
    address = link(in_sentence(screen, place, source, (row.query, row.key), writes))
    query, key = in_word(of.named, row.query), in_word(of.column, row.key)
    written = Side("written", of.written).text_at([row.query])
    origin = Side("query", of.read).at([row.query]) | written | Side("key", of.column).at([row.key])
    return RowInSentence(row.weight, query, key, of.text, marked, address, group, origin)


def tokens_of(pieces: Sequence[str], is_apart: bool) -> tuple[Token, ...]:
    """Pieces as tokens, whose words can be told: a survey keeps no more of them.

    is_apart: as in `spread`. Their ids are none, as a number is a word where its id is the same.
    """
    has_marks = any(not begins_word(piece) for piece in pieces)
    return tuple(
        Token(
            -1,
            piece,
            special=is_special(piece),
            begins=True if is_apart else begins_word(piece) if has_marks else None,
        )
        for piece in pieces
    )


def is_special(piece: str) -> bool:
    """Tell whether a piece reads as the start, the end and the like: no byte does."""
    return len(piece) > 2 and piece[0] in "<[" and piece[-1] in ">]" and bare(piece) == piece


def bare(piece: str) -> str:
    """A piece without the mark of a space before it; a space by itself stays visible.

    >>> bare("▁It"), bare("<0x36>")
    ('It', '6')
    """
    return SPACE if piece in SPACES else word_piece([Token(0, piece)]).removeprefix(SPACE)


def spread(pieces: Sequence[str], is_apart: bool) -> tuple[str, list[tuple[int, int]]]:
    """Write pieces as a text, with the letters of each; is_apart: they are words without a mark.

    >>> spread(["▁It", "▁rain", "s", "</s>"], False)
    ('It rains </s>', [(0, 2), (3, 7), (7, 8), (9, 13)])
    >>> spread(["s", "o", ",", " ", "I"], False)
    ('so, I', [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)])
    >>> spread(["▁19", "<0x36>", "2"], False)
    ('1962', [(0, 2), (2, 3), (3, 4)])
    """
    text, parts = "", list[tuple[int, int]]()
    for piece in pieces:
        if piece in SPACES:
            text += " "
            parts.append((len(text) - 1, len(text)))
            continue
        word = bare(piece)
        is_alone = piece.startswith(SPACE) or is_apart or is_special(piece)
        if text and not text.endswith(" ") and is_alone:
            text += " "
        parts.append((len(text), len(text) + len(word)))
        text += word
    return text, parts
