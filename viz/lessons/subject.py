"""The subject of a task: one row of one head of what is on screen."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from transformer.analysis.cell import Cell, inside
from transformer.analysis.merging import Group
from transformer.analysis.reading import AttentionMap, Reading, merges_unasked, read, row_tokens
from transformer.checkpoint import Checkpoint
from transformer.recording import Attention, Recording
from transformer.token import Token
from transformer.words import word_groups
from viz.labels import in_words, kind_name, of_groups
from viz.lessons.place import Place
from viz.lessons.riddle import NO_RIDDLE, Riddle, numbered


@dataclass(frozen=True, eq=False)
class Subject:
    """A row of a head, and all that it is part of."""

    checkpoint: Checkpoint
    recording: Recording
    place: Place
    arguments: tuple[int, ...] = ()
    """The numbers behind the name of the task."""
    text: str = ""
    """The text that was typed."""
    turn: Callable[[], AbstractContextManager[object]] = nullcontext
    """Around each run of a model that a task makes: others may be before it."""
    result: Any = None
    """The last value of the task's `run`, of a riddle its Evidence; None: nobody waited for it."""
    riddle: Riddle = NO_RIDDLE
    in_pieces: bool = False
    """True: the screen shows pieces, and so its words are."""

    @property
    def attention(self) -> Attention:
        return self.recording.attentions[self.place.kind]

    def cell(self, key: int = 0) -> Cell:
        """The row's cell with this key, stage by stage. Raises ValueError where q is not known."""
        place = self.place
        return inside(self.recording, place.kind, place.layer, place.head, place.query, key)

    @property
    def is_of_words(self) -> bool:
        """Tell whether words are asked about, as pictures show them, and no pieces.

        A row that is a part of a word is one of pieces: the row of its word is a mean of several.
        """
        is_whole = (self.place.query,) in word_groups(self._rows)
        return is_whole and not self.in_pieces and merges_unasked(self.checkpoint.about)

    @property
    def map(self) -> AttentionMap:
        """The attention as a picture has it, of words or of pieces."""
        return read(self.recording, self.place.kind, Reading(words=self.is_of_words))

    @property
    def row(self) -> int:
        """The number of the row in such a picture."""
        row = self.map.row_of(self.place.query)
        assert row is not None  # nothing is hidden there
        return row

    @property
    def groups(self) -> list[Group]:
        """The positions of each word that the row may look at."""
        map = self.map
        allowed = map.allowed(self.place.layer, self.place.head)[self.row]
        return [map.column_groups[column] for column in allowed.nonzero().flatten().tolist()]

    @property
    def weights(self) -> Tensor:
        """The weights of these words [N]; they add up to 1."""
        row = self.attention.weights(self.place.layer, self.place.head)[self.place.query]
        return torch.stack([row[list(group)].sum() for group in self.groups])

    @property
    def words(self) -> tuple[str, ...]:
        """These words; of equal ones each has its number."""
        names = named(self.attention.keys, self.map.column_groups)
        return tuple(names[self.map.column_groups.index(group)] for group in self.groups)

    @property
    def strongest(self) -> int:
        """The place in `words` of the largest weight."""
        return int(self.weights.argmax())

    @property
    def open_keys(self) -> list[int]:
        """Positions of the keys that the row may look at: of all tokens, for what is computed."""
        allowed = self.attention.allowed(self.place.layer, self.place.head)[self.place.query]
        return [int(key) for key in allowed.nonzero().flatten()]

    @property
    def tokens(self) -> tuple[str, ...]:
        """The names of these keys; of equal ones each has its number."""
        names = named(self.attention.keys)
        return tuple(names[key] for key in self.open_keys)

    @property
    def token_weights(self) -> Tensor:
        """The weights of these keys [N]; they add up to 1."""
        row = self.attention.weights(self.place.layer, self.place.head)[self.place.query]
        return row[self.open_keys]

    @property
    def strongest_token(self) -> int:
        """The place in `tokens` of the largest weight."""
        return int(self.token_weights.argmax())

    @property
    def row_word(self) -> str:
        """The row's name: in cross-attention the word that it writes."""
        return named(self._rows)[self.place.query]

    @property
    def _rows(self) -> tuple[Token, ...]:
        return row_tokens(self.attention)

    @property
    def about_row(self) -> str:
        """A sentence about the row: its head, and what looks at what there."""
        attention, kind = self.attention, kind_name(self.place.kind)
        looks = f"‘{self.row_word}’ looks at the tokens of the sentence"
        if attention.is_cross and attention.produced:
            looks = f"while writing ‘{self.row_word}’ it looks at the tokens of the sentence"
        elif attention.is_decoder and not attention.is_cross:
            has_output = any(each.is_cross for each in self.recording.attentions.values())
            text = "the output" if has_output else "the text"
            looks = f"‘{self.row_word}’ looks at the tokens of {text} up to itself"
        return f"Below: the row ‘{self.row_word}’ of head {self.head_name}, {kind}: {looks}."

    @property
    def head_name(self) -> str:
        """The head's name, as every picture has it: "L2 H3"."""
        return f"L{self.attention.number(self.place.layer)} H{self.place.head}"


def named(tokens: tuple[Token, ...], groups: Sequence[Group] | None = None) -> tuple[str, ...]:
    """Tokens, or groups of them, by their words; one that comes again has its number: "the #2"."""
    return numbered(in_words(tokens) if groups is None else of_groups(tokens, groups))
