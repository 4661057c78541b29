"""The head and row that a scene means: a rule, resolved on what is on screen, no number alone."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from transformer.analysis.metrics.measure import measure, metrics_of
from transformer.analysis.reading import row_tokens
from transformer.discover import discover
from transformer.recording import Attention, Recording
from transformer.token import Token
from transformer.words import word_groups

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
