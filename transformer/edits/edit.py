"""An edit, as data, and a kind of edit, as it declares itself."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from transformer.field_docs import fields_in_help
from transformer.in_a_line import in_a_line
from transformer.inputs import InputError
from transformer.refusal import Refusal

Of = Literal["head", "row", "cell", "word", "kind", "side", "read word"]
NUMBERS: dict[Of, tuple[str, ...]] = {
    "head": ("layer", "head"),
    "row": ("layer", "head", "query"),
    "cell": ("layer", "head", "query", "key"),
    "word": ("layer", "query"),
    "kind": (),
    "side": (),
    "read word": ("word",),
}
"""The names of the numbers of a place; a kind of attention by itself and a side have none. A
word that is read is one of `word_groups`, counted from 0."""


class EditError(InputError, Refusal):
    """An edit that cannot be made; the message names it."""


@fields_in_help
@dataclass(frozen=True)
@in_a_line
class Edit:
    """One change of a model for the length of one run.

    `str(edit)` is how it is spelled everywhere, and `parse` reads that.

    >>> str(Edit("cut", "cross", (2, 3, 5, 7))), str(Edit("positions-shift", "source", (), (3,)))
    ('cut:cross.2.3.5.7', 'positions-shift:source=3')
    """

    name: str
    """The name of its kind."""
    place: str
    """The kind of attention, such as "cross"; of positions and of words the side, "source"."""
    numbers: tuple[int, ...] = ()
    """Layer, head, query and key, or a word, as many as its kind asks for."""
    values: tuple[float, ...] = ()
    """The numbers that follow its place, such as a factor, in the order that its kind has them."""
    text: str = ""
    """Another sentence, where its kind refers to one."""

    @property
    def layer(self) -> int:
        return self.numbers[0]

    @property
    def head(self) -> int:
        return self.numbers[1]

    @property
    def at_head(self) -> tuple[str, int, int]:
        """Kind, layer and head, where it changes a head or a part of one."""
        return self.place, self.layer, self.head

    @property
    def query(self) -> int:
        return self.numbers[min(2, len(self.numbers) - 1)]

    @property
    def key(self) -> int:
        return self.numbers[3]

    def __str__(self) -> str:
        values = self.text or ",".join(map(spell, self.values))
        place = ".".join((self.place, *map(str, self.numbers)))
        return f"{self.name}:{place}" + (f"={values}" if values else "")


def spell(value: float) -> str:
    """A number as short as it reads back the same.

    >>> spell(3.0), spell(0.5), spell(1e-05)
    ('3', '0.5', '1e-05')
    """
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


@dataclass(frozen=True)
class Value:
    """A number of an edit, within limits: what a control asks for."""

    title: str
    default: float
    least: float
    most: float
    is_whole: bool = False
    is_token: bool = False
    """True: the number of a token of the text, counted from 0."""
    slider: float | None = None
    """The largest number of a slider, which begins at 0; None: it has a field."""


Scores = Callable[[Edit, Tensor, int], Tensor]
"""(edit, scores, the number of the first query) -> scores. Scores are those of one head [Q, K], or
the one row [1, K] of a row or cell; float32, -inf where a mask closes: these stay closed."""
Heads = Callable[[Edit, Tensor, Tensor | None], Tensor]
"""(edit, one head's output before W_O [Q, d_value], the reference) -> the same. The reference is
what the head gives in a run that nothing changes: a row per query where the edit needs as many
words, else of all its words [R, d_value]; None where the edit refers to nothing."""
States = Callable[[Edit, Tensor, Tensor], Tensor]
"""(edit, what a layer gives for a word [D], the reference [D]) -> the same."""
Places = Callable[[Edit, Tensor], Tensor]
"""(edit, positions [T], whole numbers) -> which positions stand there instead."""
Encodings = Callable[[Edit, Tensor], Tensor]
"""(edit, positional encodings [T, D], or angles of rotary positions [T, n]) -> the same."""
Steps = Callable[[Edit, Tensor], Tensor]
"""(edit, radians by which pairs turn from one position to the next [n]) -> the same."""
Biases = Callable[[Edit, Tensor], Tensor]
"""(edit, what is added to a head's scores for places [Q, K]) -> the same."""
Words = Callable[[Edit, Tensor], Tensor]
"""(edit, token ids of what is read [T]) -> the same; the values name words that are there."""


@dataclass(frozen=True)
class EditKind:
    """A way to change a model: what it is of, what it asks for, and what it does.

    One of its functions says what it does, or the attentions that it closes.
    """

    name: str
    title: str
    of: Of
    explain: str
    """The explanation; its first sentence stands by itself on a card."""
    formula: str
    """In LaTeX as viz/formula.py reads it."""
    source: str = ""
    values: tuple[Value, ...] = ()
    """The values that follow the place, in this order."""
    zero: str = ""
    """The kind that it is where its one number, a factor, is 0; with a factor of 1 it is none."""
    further: Value | None = None
    """A value that may follow them, any number of times, once at least."""
    text: Literal["none", "optional", "needed"] = "none"
    """The need for a sentence after the place, the reference; left out, it is the run's own."""
    same_length: bool = False
    """True: that sentence has as many words as the run's own."""
    same_sequence: bool = False
    """True: it says something only where queries and keys are the same words."""
    scores: Scores | None = None
    heads: Heads | None = None
    states: States | None = None
    places: Places | None = None
    encodings: Encodings | None = None
    frequencies: Steps | None = None
    bias: Biases | None = None
    words: Words | None = None
    closes: Mapping[str, tuple[str, ...]] | None = None
    """Place -> the kinds of attention in all of whose layers and heads nobody sees the word."""

    @property
    def is_of_text(self) -> bool:
        """Tell whether it names words, by their numbers: another text has others there."""
        further = () if self.further is None else (self.further,)
        names_words = any(value.is_token for value in (*self.values, *further))
        return names_words or bool({"query", "word"} & set(NUMBERS[self.of]))

    @property
    def cited(self) -> str:
        """Explain it, with its source."""
        return f"{self.explain[:-1]} ({self.source})." if self.source else self.explain
