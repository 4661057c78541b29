"""The cells of a recording that a question is about, in maps by words.

They are those of words, of a place, or drawn one by one; `countable` says what of drawn ones can be
looked for in other texts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from unicodedata import normalize

import torch
from torch import Tensor

from transformer.analysis.reading import AttentionMap, Reading, read
from transformer.corpus.questions.grammar import Pattern, offset_of, place_at, words_of
from transformer.inputs import InputError
from transformer.recording import Recording
from transformer.refusal import quoted
from transformer.token import Token

CLOSED = "No word there may look at these: a mask closes all of it."


@dataclass(frozen=True)
class Spot:
    """Cells of one kind of attention: all in which one of these queries meets one of these keys."""

    kind: str
    queries: tuple[int, ...]
    """Positions; empty: of every word that is not special."""
    keys: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a map by words that a pattern is about."""

    map: AttentionMap
    are: tuple[Tensor, ...]
    """bool [H, R, C] for each layer: none that its mask closes, and of no row without a choice."""
    is_one: bool
    """True: one of them is enough; else a head that does it has weight in every row of them."""

    def alike(self, layer: int) -> Tensor:
        """The weights of heads that look at all keys alike: [H, R, C]."""
        n_pieces = torch.tensor([len(group) for group in self.map.column_groups])
        open_ = self.map.allowed(layer) * n_pieces
        return open_ / open_.sum(-1, keepdim=True).clamp_min(1)

    def counts(self, layer: int) -> list[tuple[int, int]]:
        """Count for each head its rows with such cells, and those whose largest weight is there."""
        are, most = self.are[layer], self.map.values(layer).argmax(-1, keepdim=True)
        n_rows, n_largest = are.any(-1).sum(-1), are.gather(-1, most).sum((-2, -1))
        return [*zip(n_rows.tolist(), n_largest.tolist(), strict=True)]


def cells_of(pattern: Pattern, recording: Recording) -> dict[str, Cells]:
    """Kind -> the cells of a pattern. Raises InputError where there are none."""
    result: dict[str, Cells] = {}
    for kind in recording.attentions:
        if pattern.kind and kind != pattern.kind:
            continue
        map = read_words(recording, kind)
        are = _drawn(pattern, map) if pattern.cells else _of_words(pattern, map)
        if layers := _open(map, are):
            result[kind] = Cells(map, layers, bool(pattern.query) and not pattern.place)
    if not result:
        what = (
            "cells that are within its map, which counts words from 0, and that no mask closes"
            if pattern.cells
            else "words that stand in the text and that attention of one kind joins, or for "
            "“itself”, if you mean a word's own place"
        )
        raise InputError(f"Nothing fits {quoted(str(pattern))}: ask for {what}.")
    return result


def _of_words(pattern: Pattern, map: AttentionMap) -> Tensor:
    """The cells of words or of a place: bool [R, C]."""
    rows, columns = _matches(map.rows, pattern.query), _matches(map.columns, pattern.key)
    result = rows[:, None] & (_placed(pattern.place, map) if pattern.place else columns)
    if _is_same(map) and pattern.query and pattern.key:
        result.fill_diagonal_(False)  # a word's own cell is the place “itself”
    return result


def _drawn(pattern: Pattern, map: AttentionMap) -> Tensor:
    """The cells that are asked for one by one: bool [R, C]; none where one is beyond the map."""
    result = torch.zeros(len(map.rows), len(map.columns), dtype=torch.bool)
    if all(row < len(map.rows) and column < len(map.columns) for row, column in pattern.cells):
        for row, column in pattern.cells:
            result[row, column] = True
    return result


def cells_at(spot: Spot, recording: Recording) -> dict[str, Cells]:
    """The same of a spot."""
    map = read_words(recording, spot.kind)
    rows, columns = (
        torch.tensor([not of.isdisjoint(group) for group in groups])
        for of, groups in (
            (set(spot.queries), map.row_groups),
            (set(spot.keys), map.column_groups),
        )
    )
    rows = rows if spot.queries else _matches(map.rows, "")
    if layers := _open(map, rows[:, None] & columns):
        return {spot.kind: Cells(map, layers, is_one=False)}
    raise InputError(CLOSED)


def read_words(recording: Recording, kind: str) -> AttentionMap:
    """The map of a kind of attention that questions are about: by words."""
    return read(recording, kind, Reading(words=True))


def open_cells(map: AttentionMap) -> Tensor:
    """The cells that can be asked for: bool [R, C]."""
    every = torch.ones(len(map.rows), len(map.columns), dtype=torch.bool)
    layers = [layer.any(0) for layer in _open(map, every)]
    return torch.stack(layers).any(0) if layers else ~every


def countable(pattern: Pattern, recording: Recording) -> Pattern | None:
    """The pattern that `over` can count on other sentences; None: cells that are none there.

    Cells are one where they are a diagonal, the first column or the end's, all of one word, or a
    single one, which is that of its two words. Raises InputError where the text has no such cells.
    """
    if not pattern.cells:
        return pattern
    kind, map = next((kind, each.map) for kind, each in cells_of(pattern, recording).items())
    rows, columns = ({*side} for side in zip(*pattern.cells, strict=True))
    keys, is_same = ({map.columns[column].piece for column in columns}, _is_same(map))
    offsets = {column - row for row, column in pattern.cells}
    if len(pattern.cells) == 1 and not (is_same and rows == columns):
        return Pattern(map.rows[min(rows)].piece, min(keys), kind=kind)
    if is_same and len(offsets) == 1:
        return Pattern(place=place_at(min(offsets)), kind=kind)
    if columns == {0}:
        return Pattern(place="first", kind=kind)
    if columns == {len(map.columns) - 1} and map.columns[-1].special:
        return Pattern(place="end", kind=kind)
    return Pattern(key=min(keys), kind=kind) if len(keys) == 1 else None


def _is_same(map: AttentionMap) -> bool:
    """Rows and columns are of one text."""
    return map.attention.queries == map.attention.keys


def _open(map: AttentionMap, are: Tensor) -> tuple[Tensor, ...]:
    """These cells [R, C] in each layer, without what a mask closes; () where none is left."""
    allowed = [map.allowed(layer) for layer in range(map.n_layers)]
    layers = tuple(are & each & (each.sum(-1, keepdim=True) > 1) for each in allowed)
    return layers if any(each.any() for each in layers) else ()


def _matches(words: Sequence[Token], word: str) -> Tensor:
    """The words that are one of these, in any case; any that is not special, where it is empty."""
    if not word:
        return torch.tensor([not each.special for each in words])
    of = {bare(each) for each in words_of(word)}
    return torch.tensor([bare(each.piece) in of for each in words])


def bare(word: str) -> str:
    """A word without the sign of its space, in lower case."""
    return normalize("NFKC", word).strip(" ▁Ġ").casefold()


def _placed(place: str, map: AttentionMap) -> Tensor:
    """The cells of a place: bool [R, C]."""
    n_rows, n_columns = len(map.rows), len(map.columns)
    result = torch.zeros(n_rows, n_columns, dtype=torch.bool)
    if place == "first":
        result[:, 0] = True
    elif place == "end":
        result[:, -1] = map.columns[-1].special
    elif _is_same(map) and abs(offset := offset_of(place) or 0) < len(result):
        result.diagonal(offset).fill_(True)
    return result
