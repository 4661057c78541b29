"""The subject of a task: one row of one head of what is on screen."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from transformer.analysis.cell import Cell, inside
from transformer.checkpoint import Checkpoint
from transformer.recording import Attention, Recording
from transformer.token import Token
from viz.labels import in_words, kind_name
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

    @property
    def attention(self) -> Attention:
        return self.recording.attentions[self.place.kind]

    def cell(self, key: int = 0) -> Cell:
        """The row's cell with this key, stage by stage. Raises ValueError where q is not known."""
        place = self.place
        return inside(self.recording, place.kind, place.layer, place.head, place.query, key)

    @property
    def weights(self) -> Tensor:
        """The weights of the keys that the row may look at [N]; they add up to 1."""
        row = self.attention.weights(self.place.layer, self.place.head)[self.place.query]
        return row[self.open_keys]

    @property
    def open_keys(self) -> list[int]:
        """Positions of the keys that the row may look at."""
        allowed = self.attention.allowed(self.place.layer, self.place.head)[self.place.query]
        return [int(key) for key in allowed.nonzero().flatten()]

    @property
    def words(self) -> tuple[str, ...]:
        """The words of these keys; of equal ones each has its number."""
        names = named(self.attention.keys)
        return tuple(names[key] for key in self.open_keys)

    @property
    def strongest(self) -> int:
        """The place in `words` of the largest weight."""
        return int(self.weights.argmax())

    @property
    def row_word(self) -> str:
        """The row's name: in cross-attention the word that it writes."""
        attention = self.attention
        is_written = attention.is_cross and attention.produced is not None
        tokens = attention.produced if is_written and attention.produced else attention.queries
        return named(tokens)[self.place.query]

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


def named(tokens: tuple[Token, ...]) -> tuple[str, ...]:
    """Tokens by their words; where one comes again, with its number: "the #2"."""
    return numbered(in_words(tokens))
