"""The summary of a survey: each head over all sentences; and surveys read again, and checked."""

import json
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from transformer.analysis.corpus_sweep import interval
from transformer.corpus.measured import N_OFFSETS, N_PLACES, SentenceHeads, columns, split
from transformer.corpus.surveyed import Decile, Estimate, HeadSummary, Row, Survey, Syntax
from transformer.corpus.syntax import DIRECTIONS, Tally
from transformer.inputs import InputError

# The summary of a survey: each head over all sentences, made of the lines of its parts.
#
# Sentences are counted, then lines gone through twice. The first time means are taken and the
# largest weights of all rows counted, in 10,000 steps, so that deciles of all rows are known to
# .0001; the second time rows of each decile are drawn. So no row is lost for having come before
# the bounds were known, and the same lines give the same summary, whoever computed them and in
# which order parts were finished.

N_STRONGEST = 5
"""The strongest rows of a head that are kept, each of another sentence."""
N_DRAWN = 3
"""Rows that are drawn of each decile."""
STEPS = 10_000
COLUMNS = 2048
"""Means whose intervals are computed at a time: memory is for what is summed, not for copies."""
MOST_GROUPS = 4096
"""Sentences whose means are resampled one by one; with more of them, runs of sentences are."""


class _Kind:
    """One kind of attention, while its lines go by."""

    def __init__(self, first: SentenceHeads, n_runs: int) -> None:
        n, n_numbers = first.numbers.shape
        self.n_layers = first.n_layers
        self.sums = np.zeros((n_runs, n, n_numbers))
        self.counts = np.zeros((n_runs, n, n_numbers), np.int32)
        self.footprint, self.n = np.zeros(first.footprint.shape), 0
        self.histogram = np.zeros((n, STEPS), np.int64)
        self.best: list[list[Row]] = [[] for _ in range(n)]
        self.least = np.full(n, -np.inf)
        """The weight of the last of the best rows, once there are enough."""
        self.drawn: dict[tuple[int, int], list[tuple[int, Row]]] = {}
        self.syntax = Tally(n_runs, n)
        self.largest_lot = np.full((n, 10), np.iinfo(np.uint64).max, np.uint64)
        """The lot of the last row of a head's decile, once there are enough."""

    def add(self, of: SentenceHeads, run: int) -> None:
        """Take the means of a sentence, and its rows into account."""
        if of.numbers.shape != self.sums.shape[1:]:
            raise InputError(
                f"The model has other heads of {of.kind} in line {of.sentence} than in the lines "
                "before: survey these lines by themselves."
            )
        there = np.isfinite(of.numbers)
        self.sums[run] += np.where(there, of.numbers, 0)
        self.counts[run] += there
        self.footprint += of.footprint
        self.n += 1
        self.syntax.add(of, run)
        heads, queries = np.nonzero(np.isfinite(of.peaks))
        np.add.at(self.histogram, (heads, _step(of.peaks[heads, queries])), 1)
        if not len(heads):
            return
        at = np.nan_to_num(of.peaks, nan=-1).argmax(1)
        tops = of.peaks[np.arange(len(at)), at]
        for head in np.flatnonzero(tops > self.least):
            best = self.best[head]
            best.append(_row(of, int(head), int(at[head])))
            best.sort(key=lambda row: -row.weight)  # stable: the first of the file among equals
            del best[N_STRONGEST:]
            if len(best) == N_STRONGEST:
                self.least[head] = best[-1].weight

    def bound(self) -> None:
        """All rows are counted: find the decile of each step."""
        before = self.histogram.cumsum(1) - self.histogram
        total = self.histogram.sum(1, keepdims=True).clip(1)
        self.decile = np.minimum(9, (10 * before + 5 * self.histogram) // total).astype(np.int8)

    def draw(self, of: SentenceHeads) -> None:
        """Draw rows: of each head and decile those with the smallest random numbers."""
        heads, queries = np.nonzero(np.isfinite(of.peaks))
        deciles = self.decile[heads, _step(of.peaks[heads, queries])]
        lots = _lots(of.sentence, heads, queries)
        for i in np.flatnonzero(lots < self.largest_lot[heads, deciles]):
            place = int(heads[i]), int(deciles[i])
            drawn = self.drawn.setdefault(place, [])
            drawn.append((int(lots[i]), _row(of, place[0], int(queries[i]))))
            drawn.sort(key=lambda each: each[0])
            del drawn[N_DRAWN:]
            if len(drawn) == N_DRAWN:
                self.largest_lot[place] = drawn[-1][0]


def summary(lines: Iterable[SentenceHeads], one_by_one: str = "") -> Survey:
    """Summarise lines, which are gone through several times: a list, or `Parts`.

    one_by_one: see `Survey`; parts say it themselves.
    Raises InputError where lines of one kind have different heads.
    """
    sentences = sorted({each.sentence for each in lines})
    width = -(-len(sentences) // MOST_GROUPS) or 1
    run_of = {sentence: at // width for at, sentence in enumerate(sentences)}
    n_runs = -(-len(sentences) // width)
    kinds: dict[str, _Kind] = {}
    for each in lines:
        if each.kind not in kinds:
            kinds[each.kind] = _Kind(each, n_runs)
        kinds[each.kind].add(each, run_of[each.sentence])
    for kind in kinds.values():
        kind.bound()
    for each in lines:
        kinds[each.kind].draw(each)
    heads = [head for name, kind in kinds.items() for head in _heads(name, kind)]
    return Survey(len(sentences), tuple(heads), one_by_one)


def _heads(name: str, kind: _Kind) -> Iterable[HeadSummary]:
    n = len(kind.best)
    numbers = _estimates(kind.sums.reshape(len(kind.sums), -1), kind.counts)
    syntax = kind.syntax.of_heads() or [{}] * n
    per_layer = n // kind.n_layers
    for at in range(n):
        estimates = numbers[at * len(columns()) : (at + 1) * len(columns())]
        footprint = kind.footprint[at] / max(1, kind.n)
        shares = footprint[:N_PLACES] if np.isnan(footprint[-1]) else footprint
        yield HeadSummary(
            kind=name,
            layer=at // per_layer,
            head=at % per_layer,
            numbers={
                column: estimate
                for column, estimate in zip(columns(), estimates, strict=True)
                if estimate is not None
            },
            footprint=tuple(float(share) for share in shares),
            deciles=tuple(_deciles(kind, at)),
            strongest=tuple(kind.best[at]),
            syntax=syntax[at],
        )


def _estimates(sums: NDArray[np.float64], counts: NDArray[np.int32]) -> list[Estimate | None]:
    """The mean of each column, with its interval; columns of the same sentences together."""
    n_of = counts.reshape(len(sums), -1)
    result: list[Estimate | None] = [None] * sums.shape[1]
    alike: dict[bytes, list[int]] = {}
    for column in range(sums.shape[1]):
        alike.setdefault(n_of[:, column].tobytes(), []).append(column)
    together = (
        each[at : at + COLUMNS] for each in alike.values() for at in range(0, len(each), COLUMNS)
    )
    for columns_ in together:
        sizes = n_of[:, columns_[0]]
        there = sizes > 0
        if not there.any():
            continue
        means = sums[np.flatnonzero(there)[:, None], columns_] / sizes[there, None]
        estimate = interval(torch.from_numpy(means), torch.from_numpy(sizes[there]))
        n_sentences, is_one = int(sizes.sum()), len(means) < 2
        for column, mean, low, high in zip(
            columns_,
            estimate.mean.tolist(),
            estimate.low.tolist(),
            estimate.high.tolist(),
            strict=True,
        ):
            result[column] = Estimate(
                mean, None if is_one else low, None if is_one else high, n_sentences
            )
    return result


def _deciles(kind: _Kind, head: int) -> Iterable[Decile]:
    n_rows = kind.histogram[head].sum()
    for decile in range(10):
        steps = np.flatnonzero((kind.decile[head] == decile) & (kind.histogram[head] > 0))
        if len(steps):
            rows = tuple(row for _, row in kind.drawn.get((head, decile), []))
            low, high = float(steps[0] / STEPS), float((steps[-1] + 1) / STEPS)
            yield Decile(low, high, float(kind.histogram[head, steps].sum() / n_rows), rows)


def _row(of: SentenceHeads, head: int, query: int) -> Row:
    key = int(of.peak_keys[head, query])
    queries, keys, names = split(of.queries), split(of.keys), split(of.names)
    weight = float(of.peaks[head, query])
    return Row(weight, of.sentence, query, key, queries[query], keys[key], names[query])


def _step(weights: NDArray[np.float32]) -> NDArray[np.int64]:
    return np.minimum(STEPS - 1, (weights * STEPS).astype(np.int64))


def _lots(sentence: int, heads: NDArray[Any], queries: NDArray[Any]) -> NDArray[np.uint64]:
    """A random number for each row, the same whenever it is drawn (splitmix64, Vigna)."""
    with np.errstate(over="ignore"):
        places = (heads.astype(np.uint64) << np.uint64(20)) + queries.astype(np.uint64)
        x = (places + np.uint64(sentence << 40)) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))


# The values of a survey that was read from a file: each is of its kind, or the file is refused.

LARGEST = 1e12
"""The largest number: sums of what is below it are finite."""


def check(survey: Survey) -> None:
    """Check the values of all heads. Raises ValueError where one is wrong, or a head is missing."""
    count(survey.n_sentences)
    if not survey.n_sentences or not survey.heads:
        raise ValueError
    text(survey.one_by_one, *survey.left_out)
    for head in survey.heads:
        _check_head(head)
    for kind in {head.kind for head in survey.heads}:
        of = [head for head in survey.heads if head.kind == kind]
        n_heads = 1 + max(head.head for head in of)
        places = [divmod(at, n_heads) for at in range(len(of))]
        is_whole = len(of) % n_heads == 0
        if not is_whole or [(head.layer, head.head) for head in of] != places:
            raise ValueError
        if len({len(head.footprint) for head in of}) > 1:  # their bins are compared
            raise ValueError


def check_estimate(of: Estimate) -> None:
    """Check a mean and its interval. Raises ValueError."""
    number(of.mean)
    _check_interval(of.low, of.high)
    count(of.n_sentences)


def number(*values: object) -> None:
    """Raise ValueError where one of them is no number, or has no end."""
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError
        if abs(value) > LARGEST or not isfinite(value):
            raise ValueError


def count(*values: object) -> None:
    """Raise ValueError where one of them counts nothing: it is below 0, or has a fraction."""
    for value in values:
        number(value)
        if not isinstance(value, int) or value < 0:
            raise ValueError


def text(*values: object) -> None:
    """Raise ValueError where one of them is no text."""
    if not all(isinstance(value, str) for value in values):
        raise ValueError


def _check_head(head: HeadSummary) -> None:
    text(head.kind, *head.numbers, *head.syntax)
    count(head.layer, head.head)
    for estimate in head.numbers.values():
        check_estimate(estimate)
    number(*head.footprint)
    if len(head.footprint) not in {N_OFFSETS, N_PLACES} or min(head.footprint) < 0:
        raise ValueError
    for decile in head.deciles:
        number(decile.low, decile.high, decile.share)
        _check_rows(decile.rows)
    _check_rows(head.strongest)
    for syntax in head.syntax.values():
        number(syntax.accuracy, syntax.by_offset, syntax.offset)
        _check_interval(syntax.low, syntax.high)
        count(syntax.n_arcs, syntax.n_sentences, abs(syntax.offset))
        if syntax.direction not in DIRECTIONS.values():
            raise ValueError


def _check_rows(rows: tuple[Row, ...]) -> None:
    for row in rows:
        number(row.weight)
        count(row.sentence, row.query, row.key)  # -1 would be the last piece
        text(row.query_piece, row.key_piece, row.row_piece)


def _check_interval(low: float | None, high: float | None) -> None:
    """Both ends, the lower one first; or none, as of one sentence."""
    if low is None and high is None:
        return
    number(low, high)
    if low is None or high is None or low > high:
        raise ValueError


# A survey that the command survey wrote, as `_survey.json`: read again, and checked.


def read_survey(text: str) -> Survey:
    """Read what `Survey.to_json` wrote. Raises InputError for anything else, in one sentence."""
    try:
        value = json.loads(text)
        heads = tuple(_head(**each) for each in value["heads"])
        survey = Survey(
            value["n_sentences"], heads, value["one_by_one"], tuple(value.get("left_out", ()))
        )
        check(survey)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise InputError(UNREADABLE) from error
    return survey


UNREADABLE = (
    "This is not a survey that this version of Headscope wrote, or it is damaged: make it anew "
    "with the command survey."
)


def _head(
    *,
    numbers: Mapping[str, Any],
    deciles: Any,
    strongest: Any,
    footprint: Any,
    syntax: Mapping[str, Any],
    **place: Any,
) -> HeadSummary:
    return HeadSummary(
        **place,
        numbers={name: Estimate(**each) for name, each in numbers.items()},
        footprint=tuple(map(float, footprint)),
        deciles=tuple(
            Decile(
                each["low"], each["high"], each["share"], tuple(Row(**row) for row in each["rows"])
            )
            for each in deciles
        ),
        strongest=tuple(Row(**row) for row in strongest),
        syntax={name: Syntax(**each) for name, each in syntax.items()},
    )
