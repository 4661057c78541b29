"""Tokens -> labels: what a piece looks like on screen, in a figure and in a table."""

import html
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import SupportsFloat

from transformer.refusal import visible
from transformer.token import Token
from transformer.words import CONTINUES, SPACES, Word, word_groups, word_piece, words_in

_KIND_TITLES = {"encoder_self": "Encoder", "decoder_self": "Decoder", "cross": "Cross"}
_KIND_NAMES = {
    "encoder_self": "encoder self-attention",
    "decoder_self": "decoder self-attention",
    "cross": "cross-attention",
}

IN_WORD, SPACE_BEFORE = "{piece} in {word}", "space before {word}"
MOST_OF_WORD = 24
"""Characters of a word beside its piece."""
_BEFORE = Token(0, " a")
"""A word that another piece may continue."""
_MEANS = re.compile(
    r"[\\`*{}\[\]|~$@^&]|<(?!\u2060)"
    r"|(?<![^\W_])_|_(?![^\W_])"  # within a word it is text
    r"|:(?!\s)|!$|^\("  # what follows, or stands before, may be put together with this
)
"""The characters that mean something in Markdown where they stand."""
_BEGINS = re.compile(r"^(\s*)(?=[#+\->])|^(\s*\d{1,9})(?=[.)])")
"""A heading, a quotation or a list, at the beginning."""
_WHOLE = 1e15
"""Floats from here on are whole numbers, or nearly so."""
_MADE_OF_WORDS = re.compile(
    r"[:@](?=\S)"  # https://…, :material/…:, :smile:, somebody@…
    r"|<(?=[^\s\-])"  # <b>, </s>
    r"|[wW](?=[wW]{2}\.)"  # www.…
    r"|(?<!\S)(?:<->|->|<-|--|[<>~]=)(?!\S)"
)


def kind_title(kind: str) -> str:
    """A kind of attention as a control names it: "Encoder"; its own name where it is another."""
    return _KIND_TITLES.get(kind, kind)


def kind_name(kind: str) -> str:
    """The same within a sentence: "encoder self-attention"."""
    return _KIND_NAMES.get(kind, kind)


def label(token: Token) -> str:
    """The piece as plain text, with a visible sign for characters that are invisible.

    The space that begins a word is ▁ for every tokenizer, as SentencePiece writes it; a piece that
    is one byte is the character that the byte is by itself, where it is one.
    """
    piece = token.character or token.piece
    begins = piece.startswith(" ") and piece != " "
    return "▁" * begins + visible(piece[begins:], "") if piece else "∅"


def bare_label(token: Token) -> str:
    """The label without the mark of a space before it."""
    return label(token).removeprefix("▁") or label(replace(token, piece=" "))


def unmarked_label(token: Token) -> str:
    """The same without the sign by which its tokenizer joins it to a word, as "lo@@" has it."""
    return bare_label(replace(token, piece=token.text) if token.text else token)


def word_text(tokens: Sequence[Token]) -> str:
    """One word as it reads, whatever pieces make it: without the space that begins it.

    >>> word_text([Token(7, "▁"), Token(8, "cher"), Token(9, "ries")]), word_text([Token(7, "▁")])
    ('cherries', '␣')
    """
    if len(tokens) == 1:
        return unmarked_label(tokens[0])
    return visible(word_piece(tokens).strip(SPACES)) or "".join(map(bare_label, tokens))


IN_WORD, SPACE_BEFORE = "{piece} in {word}", "space before {word}"


def in_words(tokens: Sequence[Token]) -> list[str]:
    """Each piece of a text by the word that it is in: the word itself, or "n in didn't".

    So is a piece called wherever it is named by itself: half a word reads as another word.

    >>> in_words([Token(2, "▁Two"), Token(7, "▁"), Token(8, "cher"), Token(9, "ries")])
    ['Two', 'space before cherries', 'cher in cherries', 'ries in cherries']
    """
    return [name for word in words_in(tokens) for name in _in_word(word)]


def in_word(tokens: Sequence[Token], position: int) -> str:
    """The piece of a text at this position, as `in_words` names it."""
    word = words_in(tokens).at(position)
    return _in_word(word)[word.positions.index(position)]


def _in_word(of: Word) -> list[str]:
    """The names of all pieces of a word."""
    word, names = word_text(of.tokens), list[str]()
    for token in of.tokens:
        piece = unmarked_label(token)
        is_space = len(of.tokens) > 1 and not token.piece.strip(SPACES)
        whole = word if len(word) <= MOST_OF_WORD else f"{word[: MOST_OF_WORD - 1]}…"
        where = (SPACE_BEFORE if is_space else IN_WORD).format(piece=piece, word=whole)
        names.append(word if piece == word else where)
    return names


def of_groups(tokens: Sequence[Token], groups: Iterable[Sequence[int]]) -> list[str]:
    """Each group of pieces as its word reads, and one that is no whole word as `in_words` does."""
    names = in_words(tokens)
    return [
        word_text([tokens[i] for i in group]) if len(group) > 1 else names[group[0]]
        for group in groups
    ]


def in_place(before: Sequence[Token], token: Token) -> str:
    """The same of a token that could stand behind others, by the word that it would make."""
    return in_words((*before, token))[-1]


def word_label(token: Token) -> str:
    """The label where words are shown and not pieces: without the space that begins a word.

    A piece that begins no word has a dot before it, as no other text is there that it continues;
    those that have a sign of their own, as the ## of WordPiece or the @@ of subword-nmt, keep it.
    """
    return label(worded(token))


@lru_cache(maxsize=10_000)
def worded(token: Token) -> Token:
    """Return the token whose label is the `word_label` of another one."""
    text = bare_label(token)
    has_sign = token.text is not None or text.startswith(CONTINUES)
    if token.special or not token.piece or has_sign:
        return token
    if not token.piece.strip(" ▁"):
        return replace(token, piece=" ")
    continues = label(token) == text and len(word_groups((_BEFORE, token))) == 1
    return replace(token, piece=f"·{text}" if continues else text)


def labels(tokens: Iterable[Token]) -> list[str]:
    """The label of each token, in order."""
    return [label(token) for token in tokens]


def figure_label(token: Token, dim: str) -> str:
    """The label for Plotly, which reads HTML: escaped; special tokens and ▁ in the colour `dim`."""
    text = html.escape(label(token), quote=False)  # Plotly would show &quot; as it stands
    if token.special:
        return f'<span style="color:{dim}">{text}</span>'
    if text.startswith("▁") and len(text) > 1:
        return f'<span style="color:{dim}">▁</span>{text[1:]}'
    return text


def number(value: SupportsFloat, digits: int = 2, form: str = "f") -> str:
    """A number with a true minus; one that rounds to 0 has no sign.

    form: how `format` writes it: "f" with so many decimals, "+f" with its sign, ",f" with groups of
    thousands, "g" with so many digits that count, "e" with a power of ten, as "f" has it too where
    a float holds no decimals any more.

    >>> number(-1.256), number(-0.001), number(-1e-6, 3, "g"), number(-1234, 0, ",f")
    ('−1.26', '0.00', '−1e−06', '−1,234')
    >>> number(1e30), number(float("nan")), number(float("-inf"))
    ('1.00e+30', 'not a number', '−infinite')
    """
    value = float(value)
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return "infinite" if value > 0 else "−infinite"
    if abs(value) >= _WHOLE:
        form = form.replace("f", "e")
    text = f"{value:{form[:-1]}.{digits}{form[-1]}}"
    return (text if float(text.replace(",", "")) else text.lstrip("+-")).replace("-", "−")


def signed(value: SupportsFloat, decimals: int = 2) -> str:
    """A change with its sign; one that rounds to 0 has none.

    >>> signed(1.256), signed(-0.5, 1), signed(-0.001)
    ('+1.26', '−0.5', '0.00')
    """
    return number(value, decimals, "+f")


def percent(share: float, decimals: int | None = None) -> str:
    """A share of 1 in per cent, with three digits that count where no decimals are asked for.

    >>> percent(0.9000125), percent(0.0000125), percent(0.0), percent(1e-9), percent(-0.256, 0)
    ('90.0 %', '0.00125 %', '0 %', '< 0.0001 %', '−26 %')
    """
    if decimals is None and 0 < abs(share) < 1e-6:
        return "< 0.0001 %" if share > 0 else "> −0.0001 %"
    if decimals is None:
        has_digits = share and math.isfinite(share)
        decimals = max(1, 2 - math.floor(math.log10(100 * abs(share)))) if has_digits else 0
    text = number(100 * share, decimals)
    return f"{text} %" if math.isfinite(share) else text


def decimals_of(largest: float) -> int:
    """Choose the decimals of a table: two, and more where even the largest would look like 0.

    >>> decimals_of(4.2), decimals_of(0.0), decimals_of(-0.0049), decimals_of(1e-30)
    (2, 2, 4, 6)
    """
    if not 0 < abs(largest) < 0.05:
        return 2
    return min(6, 1 - math.floor(math.log10(abs(largest))))


def literal(text: str) -> str:
    """Text as Markdown that shows it as it stands, in one line.

    The one place where something typed or loaded meets Markdown. Characters that hide or reorder
    text are shown by their number. Links, icons and arrows are what Streamlit makes of plain words
    after the Markdown is read, so a backslash does not stop it: there U+2060, which is invisible
    and breaks no line, stands between two characters. All else is left as it is: the label of a
    field is also its name, which a screen reader reads out with every backslash.
    """
    result = unmade(visible(text))
    result = _MEANS.sub(lambda match: f"\\{match[0]}", result)
    result = _BEGINS.sub(lambda match: f"{match[0]}\\", result)
    return re.sub(r" {2,}", lambda match: "\u00a0" * len(match[0]), result)


def unmade(text: str) -> str:
    """The same text, of which Streamlit makes no links, icons or arrows; see `literal`."""
    return _MADE_OF_WORDS.sub(lambda match: f"{match[0][0]}\u2060{match[0][1:]}", text)


def escaped(text: str) -> str:
    """Text as HTML, or in an attribute, that shows it as it stands; what hides or reorders too."""
    return html.escape(visible(text))


def figure_text(text: str) -> str:
    """Words that are not a piece, the name of a class for one, as Plotly shows them literally."""
    return html.escape(visible(text), quote=False)


def counted(n: int, one: str, many: str) -> str:
    """
    >>> counted(1, "key", "keys"), counted(1200, "key", "keys")
    ('1 key', '1,200 keys')
    """
    return f"{n:,} {one if n == 1 else many}"
