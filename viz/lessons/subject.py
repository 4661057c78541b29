"""The subject of a task: the head and row that a scene means, and what is read of it."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from transformer.analysis.cell import Cell, inside
from transformer.analysis.metrics.metrics import measure, metrics_of
from transformer.analysis.reading import (
    AttentionMap,
    Group,
    Reading,
    merges_unasked,
    read,
    row_tokens,
)
from transformer.checkpoint import Checkpoint
from transformer.discover import discover
from transformer.recording import Attention, Recording
from transformer.token import Token
from transformer.words import word_groups
from viz.labels import in_words, kind_name, of_groups
from viz.lessons.riddle import NO_RIDDLE, Riddle, numbered

# The head and row that a scene means: a rule, resolved on what is on screen, no number alone.

ROWS = ("first", "middle", "last", "divided", "sharpest")
"""Rows by name. "divided": the largest weight is nearest to one half; "sharpest": it is largest, of
all other rows, so that no scene that works out the one gives away the other."""
FEW = 4
"""Keys that a row named "divided" or "sharpest" chooses from, at least, if there is such a row."""
_HEAD = re.compile(r"(most|least) ([a-z_]+) in ([a-z_]+)")


@dataclass(frozen=True)
class Place:
    """One row of one head."""

    kind: str
    layer: int
    head: int
    query: int


@dataclass(frozen=True)
class HeadRule:
    """The head with the largest, or least, value of a metric, among those of a kind."""

    is_most: bool
    metric: str
    kind: str
    """ "any": of all kinds."""

    def heads(self, recording: Recording) -> Iterator[tuple[float, str, int, int]]:
        """Value, kind, layer and head of each that the metric says something about."""
        for kind, attention in recording.attentions.items():
            if self.kind not in ("any", kind) or self.metric not in metrics_of(attention):
                continue
            for layer in range(attention.n_layers):
                values = measure(attention, layer)[self.metric].nan_to_num(-torch.inf)
                for head, value in enumerate(values.tolist()):
                    yield value if self.is_most else -value, kind, layer, head

    def find(self, recording: Recording) -> tuple[str, int, int] | None:
        """Kind, layer and head; the first of equals. None where there is no head to choose from."""
        best = max(self.heads(recording), key=lambda each: each[0], default=None)
        return best and best[1:]


def read_head(text: str) -> tuple[HeadRule, ...]:
    """ "most alignment in cross or most previous in any" -> the rules: the first that finds a head.

    Raises ValueError, in a clause.
    """
    return tuple(map(_rule, text.split(" or ")))


def _rule(text: str) -> HeadRule:
    match = _HEAD.fullmatch(text)
    if match is None:
        raise ValueError("a head reads most or least, a metric, in, and a kind or any")
    if match[2] not in discover("transformer.analysis.metrics", "METRIC"):
        raise ValueError(f"there is no metric {match[2][:40]}")
    return HeadRule(match[1] == "most", match[2], match[3])


def check_row(text: str) -> None:
    """Raises ValueError, in a clause, unless `row_of` can resolve it."""
    if text not in ROWS and not re.fullmatch(r"\d{1,6}", text):
        raise ValueError(f"a row is a position or one of {', '.join(ROWS)}")


def find_place(recording: Recording, head: str, row: str) -> Place | None:
    """The row that the rules mean on this recording; None where it has no such head."""
    each = (rule.find(recording) for rule in read_head(head))
    place = next(filter(None, each), None)
    if place is None:
        return None
    kind, layer, number = place
    attention = recording.attentions[kind]
    return Place(kind, layer, number, row_of(attention, layer, number, row))


def row_of(attention: Attention, layer: int, head: int, row: str) -> int:
    """The position of a row; the nearest there is."""
    last = len(attention.queries) - 1
    if row.isdigit():
        return min(int(row), last)
    if row in ("first", "middle", "last"):
        return {"first": 0, "middle": last // 2, "last": last}[row]
    weights, allowed = attention.weights(layer, head), attention.allowed(layer, head)
    largest, good = weights.amax(-1), _worth_asking(attention, weights, allowed)  # [Q]
    divided = int((-(largest - 0.5).abs()).masked_fill(~good, -torch.inf).argmax())
    if row == "divided" or int(good.sum()) < 2:
        return divided
    good[divided] = False
    return int(largest.masked_fill(~good, -torch.inf).argmax())


def _worth_asking(attention: Attention, weights: Tensor, allowed: Tensor) -> Tensor:
    """Return rows with words of their own and enough keys that look most at a word: bool [Q].

    A lone letter is no such row, and a part of a word neither is one nor gets most. What no row
    does is asked of none; the last three, where they leave no two rows.
    """
    rows = row_tokens(attention)
    n_open = allowed.sum(-1)  # [Q]
    most = weights.argmax(-1)
    good = torch.ones(len(n_open), dtype=torch.bool)
    for holds in (
        _are_words(rows),
        n_open >= min(FEW, int(n_open.max())),
        _are_words(attention.keys)[most],
    ):
        both = good & holds
        good = both if bool(both.any()) else good
    for prefers in (_are_words(rows, 2), _are_whole(rows), _are_whole(attention.keys)[most]):
        both = good & prefers
        good = both if int(both.sum()) > 1 else good
    return good


def _are_whole(tokens: Sequence[Token]) -> Tensor:
    """Mark those that make a word by themselves: bool [N]."""
    groups = word_groups(tokens)
    return torch.tensor([len(group) == 1 for group in groups for _ in group])


def _are_words(tokens: Sequence[Token], n_letters: int = 1) -> Tensor:
    """Mark those that are not special, and have so many letters or digits at least: bool [N]."""
    return torch.tensor(
        [not each.special and sum(map(str.isalnum, each.piece)) >= n_letters for each in tokens]
    )


# The subject of a task: one row of one head of what is on screen.

_ROW = "Below: the row ‘{row}’ of head {head}, {kind}: "
ABOUT_ROW = {
    "sentence": f"{_ROW}‘{{row}}’ looks at the tokens of the sentence.",
    "written": f"{_ROW}while writing ‘{{row}}’ it looks at the tokens of the sentence.",
    "output": f"{_ROW}‘{{row}}’ looks at the tokens of the output up to itself.",
    "text": f"{_ROW}‘{{row}}’ looks at the tokens of the text up to itself.",
}
"""Sentences about a row: its head, and what looks at what there."""


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
        looks = "sentence"
        if attention.is_cross and attention.produced:
            looks = "written"
        elif attention.is_decoder and not attention.is_cross:
            has_output = any(each.is_cross for each in self.recording.attentions.values())
            looks = "output" if has_output else "text"
        return ABOUT_ROW[looks].format(row=self.row_word, head=self.head_name, kind=kind)

    @property
    def head_name(self) -> str:
        """The head's name, as every picture has it: "L2 H3"."""
        return f"L{self.attention.number(self.place.layer)} H{self.place.head}"


def named(tokens: tuple[Token, ...], groups: Sequence[Group] | None = None) -> tuple[str, ...]:
    """Tokens, or groups of them, by their words; one that comes again has its number: "the #2"."""
    return numbered(in_words(tokens) if groups is None else of_groups(tokens, groups))


# The sureness of a model about its output.

EPSILON = 0.1
"""The share of label smoothing, as in the paper."""


def sureness(recording: Recording) -> Tensor:
    """The probability of each token of the target [T], in float64."""
    probs = recording.require_logits().cpu().double().softmax(-1)  # [T, V]
    ids = [token.id for token in recording.target]
    return probs[range(len(ids)), ids]


def second_least_sure(recording: Recording) -> int:
    """The position that it was second least sure of, or the only one."""
    return int(sureness(recording).argsort()[:2][-1])


# The sizes that the cost of a layer depends on.


def sizes_of(recording: Recording, place: Place) -> tuple[int, int]:
    """n, the tokens that are read, and d, the width of all heads together, known where q is."""
    attention = recording.attentions[place.kind]
    return len(attention.keys), attention.n_heads * attention.calls[0].q.size(-1)
