"""The heads that answer a question: “who links it to phone?”.

`answers` ranks the heads of a recording by a pattern, and `over` says how often each head does the
like on other sentences. `transformer.corpus.questions` reads questions.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from unicodedata import normalize

import torch
from torch import Tensor

from transformer.analysis.corpus_sweep import judged_target
from transformer.analysis.reading import AttentionMap, Reading, read
from transformer.checkpoint import Checkpoint
from transformer.corpus.questions import Pattern, words_of
from transformer.corpus.shipped import Place
from transformer.inputs import InputError
from transformer.recording import Recording
from transformer.recording.ours import record
from transformer.refusal import Refusal, quoted
from transformer.token import Token

CLOSED = "No word there may look at these: a mask closes all of it."
_SPECIAL = re.compile(r"<.+>|\[.+\]")
"""Special tokens, as the end: a text has them though it does not spell them."""
LEAST_GAIN = 0.1
"""The share, of what chance leaves, that a head gains which looks there at all."""


@dataclass(frozen=True)
class Spot:
    """Cells of one kind of attention: all in which one of these queries meets one of these keys."""

    kind: str
    queries: tuple[int, ...]
    """Positions; empty: of every word that is not special."""
    keys: tuple[int, ...]


@dataclass(frozen=True)
class Answer:
    """A head that does it on one recording."""

    kind: str
    layer: int
    head: int
    weight: float
    """The weight by words: the sum over the key's pieces, the mean over the query's; of several
    such words the largest, of a place the mean over all words that have it."""
    margin: float
    """The weight less that of the next head in the ranking."""
    is_largest: bool
    """True: the query looks at nothing more."""
    query: tuple[int, ...]
    """Positions of the pieces of the query, where the weight is largest."""
    key: tuple[int, ...]
    """The same of the key."""
    chance: float
    """The weight by chance, of a head that looks at all keys alike."""

    @property
    def looks_there(self) -> bool:
        """Tell whether it gains more than `LEAST_GAIN` of what chance leaves."""
        return self.weight > self.chance + LEAST_GAIN * (1 - self.chance)


def answers(pattern: Pattern, recording: Recording, spot: Spot | None = None) -> list[Answer]:
    """Rank heads by how much they do it, the first first.

    spot: where the pattern stands in this text, of words that it may have elsewhere too: then the
    weight is the sum over its keys, the mean over its queries. Raises InputError where the text has
    no such word, or nothing of this kind.
    """
    result: list[Answer] = []
    of_kinds = _cells(pattern, recording) if spot is None else _cells_at(spot, recording)
    for kind, cells in of_kinds.items():
        for layer in range(cells.map.n_layers):
            result += cells.answers(kind, layer)
    result.sort(key=lambda each: -each.weight)
    rest = [*(each.weight for each in result[1:]), 0.0]
    return [
        replace(each, margin=each.weight - following)
        for each, following in zip(result, rest, strict=True)
    ]


@dataclass(frozen=True)
class Frequency:
    """The rows of other sentences in which a head does it."""

    n_rows: int
    """The rows that might: words that are the query, or that have such a key."""
    n_largest: int
    """The rows whose largest weight is there."""
    n_sentences: int
    """The sentences that have such rows."""

    @property
    def share(self) -> float:
        return self.n_largest / self.n_rows if self.n_rows else 0.0


def over(
    pattern: Pattern, checkpoint: Checkpoint, sentences: Iterable[str]
) -> Iterator[dict[Place, Frequency]]:
    """Count on sentences how often each head looks there most, while the counts grow.

    Sentences without the words of the pattern are passed over.
    """
    counts: dict[Place, Frequency] = {}
    sides = [[*map(_bare, words_of(word))] for word in _of_source(pattern, checkpoint)]
    for text in sentences:
        if not all(any(word in _bare(text) for word in words) for words in sides):
            continue
        try:
            recording = record(checkpoint, text, judged_target(checkpoint, text))
            of_kinds = _cells(pattern, recording)
        except Refusal:  # without such words after all, or none that this model reads
            continue
        for kind, cells in of_kinds.items():
            for layer in range(cells.map.n_layers):
                for head, (n_rows, n_largest) in enumerate(cells.counts(layer)):
                    of = counts.get((kind, layer, head), Frequency(0, 0, 0))
                    counts[kind, layer, head] = Frequency(
                        of.n_rows + n_rows, of.n_largest + n_largest, of.n_sentences + bool(n_rows)
                    )
        yield dict(counts)


def _of_source(pattern: Pattern, checkpoint: Checkpoint) -> list[str]:
    """The words that only the source can have: those of an output are known when it is written."""
    words = [word for word in (pattern.query, pattern.key) if word and not _SPECIAL.search(word)]
    if pattern.kind == "encoder_self" or not checkpoint.family.decodes:
        return words
    return words if checkpoint.family.continues else []


@dataclass(frozen=True, eq=False)
class _Cells:
    """The cells of a map by words that a pattern is about."""

    map: AttentionMap
    are: tuple[Tensor, ...]
    """bool [H, R, C] for each layer: none that its mask closes, and of no row without a choice."""
    is_one: bool
    """True: one of them is enough; else a head that does it has weight in every row of them."""

    def answers(self, kind: str, layer: int) -> Iterator[Answer]:
        values = self.map.values(layer)
        are = self.are[layer]
        largest = values.masked_fill(~are, -1.0).flatten(1).argmax(-1).tolist()
        n_rows, alike = are.any(-1).sum(-1), self._alike(layer)
        means, chances = (
            (each.masked_fill(~are, 0.0).sum((-2, -1)) / n_rows).tolist()
            for each in (values, alike)
        )
        for head in n_rows.nonzero().flatten().tolist():
            (row, column), mean = divmod(largest[head], are.size(-1)), means[head]
            weight = float(values[head, row, column])
            yield Answer(
                kind,
                layer,
                head,
                weight=weight if self.is_one else mean,
                margin=0.0,
                is_largest=weight >= float(values[head, row].max()),
                query=self.map.row_groups[row],
                key=self.map.column_groups[column],
                chance=float(alike[head, row, column]) if self.is_one else chances[head],
            )

    def _alike(self, layer: int) -> Tensor:
        """The weights of heads that look at all keys alike: [H, R, C]."""
        n_pieces = torch.tensor([len(group) for group in self.map.column_groups])
        open_ = self.map.allowed(layer) * n_pieces
        return open_ / open_.sum(-1, keepdim=True).clamp_min(1)

    def counts(self, layer: int) -> list[tuple[int, int]]:
        """Count for each head its rows with such cells, and those whose largest weight is there."""
        are, most = self.are[layer], self.map.values(layer).argmax(-1, keepdim=True)
        n_rows, n_largest = are.any(-1).sum(-1), are.gather(-1, most).sum((-2, -1))
        return [*zip(n_rows.tolist(), n_largest.tolist(), strict=True)]


def _cells(pattern: Pattern, recording: Recording) -> dict[str, _Cells]:
    """Kind -> the cells of a pattern. Raises InputError where there are none."""
    result: dict[str, _Cells] = {}
    for kind, attention in recording.attentions.items():
        if pattern.kind and kind != pattern.kind:
            continue
        map = read(recording, kind, Reading(words=True))
        rows, columns = _matches(map.rows, pattern.query), _matches(map.columns, pattern.key)
        is_same = attention.queries == attention.keys
        at = _placed(pattern.place, map, is_same) if pattern.place else columns
        are = rows[:, None] & at
        if is_same and pattern.query and pattern.key:
            are.fill_diagonal_(False)  # a word's own cell is the place “itself”
        if layers := _open(map, are):
            result[kind] = _Cells(map, layers, bool(pattern.query) and not pattern.place)
    if not result:
        where = f" in attention of the kind {pattern.kind}" if pattern.kind else ""
        raise InputError(
            f"Nothing{where} fits {quoted(str(pattern))}: ask for words that stand in the text and "
            "that attention of one kind joins, or for “itself”, if you mean a word's own place."
        )
    return result


def _cells_at(spot: Spot, recording: Recording) -> dict[str, _Cells]:
    """The same of a spot."""
    map = read(recording, spot.kind, Reading(words=True))
    rows, columns = (
        torch.tensor([not of.isdisjoint(group) for group in groups])
        for of, groups in (
            (set(spot.queries), map.row_groups),
            (set(spot.keys), map.column_groups),
        )
    )
    rows = rows if spot.queries else _matches(map.rows, "")
    if layers := _open(map, rows[:, None] & columns):
        return {spot.kind: _Cells(map, layers, is_one=False)}
    raise InputError(CLOSED)


def _open(map: AttentionMap, are: Tensor) -> tuple[Tensor, ...]:
    """These cells [R, C] in each layer, without what a mask closes; () where none is left."""
    allowed = [map.allowed(layer) for layer in range(map.n_layers)]
    layers = tuple(are & each & (each.sum(-1, keepdim=True) > 1) for each in allowed)
    return layers if any(each.any() for each in layers) else ()


def _matches(words: Sequence[Token], word: str) -> Tensor:
    """The words that are one of these, in any case; any that is not special, where it is empty."""
    if not word:
        return torch.tensor([not each.special for each in words])
    of = {_bare(each) for each in words_of(word)}
    return torch.tensor([_bare(each.piece) in of for each in words])


def _bare(word: str) -> str:
    return normalize("NFKC", word).strip(" ▁Ġ").casefold()


def _placed(place: str, map: AttentionMap, is_same: bool) -> Tensor:
    """The cells of a place: bool [R, C]."""
    n_rows, n_columns = len(map.rows), len(map.columns)
    result = torch.zeros(n_rows, n_columns, dtype=torch.bool)
    if place == "first":
        result[:, 0] = True
    elif place == "end":
        result[:, -1] = map.columns[-1].special
    elif is_same:
        offset = {"previous": -1, "next": 1, "same": 0}[place]
        result.diagonal(offset).fill_(True)
    return result
