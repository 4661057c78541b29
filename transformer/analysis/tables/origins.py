"""Columns of a file that name the tokens that a row is about: position, piece and word."""

from collections.abc import Iterable, Sequence

from transformer.recording import Attention
from transformer.token import Token
from transformer.words import SPACES, word_groups, word_piece

Columns = dict[str, str]


class Side:
    """The tokens of a text, by position, as columns that begin with a name: "query_piece"."""

    def __init__(self, name: str, tokens: Sequence[Token]) -> None:
        self.name = name
        self.tokens = tokens
        self._words = {i: group for group in word_groups(tokens) for i in group}

    def at(self, positions: Iterable[int]) -> Columns:
        """Columns of the position, piece and word of one token, or of several, a space between."""
        positions = list(positions)
        return {self._title("position"): _joined(positions)} | self.text_at(positions)

    def text_at(self, positions: Iterable[int]) -> Columns:
        """The same without the position; empty where no token is."""
        there = [i for i in positions if i < len(self.tokens)]
        return {
            self._title("piece"): _joined(self.tokens[i].piece for i in there),
            self._title("word"): _joined(dict.fromkeys(self._word(i) for i in there)),
        }

    @property
    def all(self) -> list[Columns]:
        """The columns of each token."""
        return [self.at([i]) for i in range(len(self.tokens))]

    def _word(self, i: int) -> str:
        """The word that a token is a part of, without the space before it."""
        piece = word_piece([self.tokens[each] for each in self._words[i]])
        return piece.strip(SPACES) or piece

    def _title(self, column: str) -> str:
        return f"{self.name}_{column}" if self.name else column


class Sides:
    """Queries, with what was written then, and keys of one kind of attention."""

    def __init__(self, attention: Attention) -> None:
        self._query = Side("query", attention.queries)
        self._written = Side("written", attention.produced or ())
        self._key = Side("key", attention.keys)

    def query(self, *positions: int) -> Columns:
        """The token that was read, and piece and word that were written then; empty: none were."""
        return self._query.at(positions) | self._written.text_at(positions)

    def key(self, *positions: int) -> Columns:
        """The token that is looked at."""
        return self._key.at(positions)

    @property
    def queries(self) -> list[Columns]:
        """The columns of each query."""
        return [self.query(i) for i in range(len(self._query.tokens))]

    @property
    def keys(self) -> list[Columns]:
        """The columns of each key."""
        return self._key.all


def together(columns: Sequence[Columns]) -> Columns:
    """The columns of several tokens as one row: a space between positions, each word once."""
    names = dict.fromkeys(name for each in columns for name in each)
    values = {name: [each[name] for each in columns if name in each] for name in names}
    return {
        name: _joined(dict.fromkeys(of) if name.endswith("word") else of)
        for name, of in values.items()
    }


def _joined(parts: Iterable[object]) -> str:
    return " ".join(map(str, parts))
