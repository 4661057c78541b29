"""Repairs: the smallest changes after which a model really writes the right word.

A change counts only once the decoding in use has written with it, and the sentence is kept. Which
of many changes are decoded is forecast by forced passes, all changes in a batch.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from transformer.analysis.needed import needed
from transformer.causes.another_word import AnotherWord, another_word
from transformer.causes.changes import (
    Change,
    Forecast,
    Forecasting,
    changes,
    other_methods,
)
from transformer.causes.continuation import continuation
from transformer.checkpoint import Checkpoint
from transformer.decoding.alone import OnStep
from transformer.decoding.decode import decode, decoding_methods
from transformer.decoding.options import MAX_LEN
from transformer.edits.edit import Edit
from transformer.edits.spelling import edits_of
from transformer.inputs import InputError
from transformer.token import Token
from transformer.words import words_of

MOST_DECODED = 32
"""Changes of the model that are decoded: those of the best forecasts."""
ENOUGH = 8
"""Repairs after which no further change is decoded: those that are left cost more by forecast."""
MARGINS = (0.01, 1.0, 3.0)
"""Leads of the right word's first other piece, in logits, that rows are asked for, one after the
other until the decoding writes the word: beam search takes seconds of a narrow lead."""


@dataclass(frozen=True)
class Repair:
    """A change, and the sentence that is written with it."""

    change: Change
    text: str
    """The sentence that the decoding in use, or the other method, writes then."""
    target: tuple[Token, ...]
    cost: float
    """The loss of the other written words, in nats, as the changed model judges the sentence that
    was written before; 0 where only the method is another one."""
    writes_it: bool
    """True: the right word stands in its place, by `in_place`."""


@dataclass(frozen=True)
class Repairs:
    """The repairs of one written word, as far as they are known."""

    place: AnotherWord
    method: str
    """The decoding in use."""
    repairs: tuple[Repair, ...] = ()
    """The repairs that write the right word, the cheapest first."""
    n_changes: int = 0
    """Changes of the model whose effect was forecast."""
    n_decoded: int = 0
    """Changes, methods among them, that were decoded."""
    n_to_decode: int = 0

    @property
    def is_whole(self) -> bool:
        return self.n_decoded >= self.n_to_decode

    @property
    def text(self) -> str:
        """Say in a sentence how many repairs there are, and what was tried."""
        tried = (
            f"{self.n_changes} changes of the model were forecast and {self.n_decoded} decoded, "
            "other methods among them"
        )
        if not self.repairs:
            so_far = "" if self.is_whole else " so far"
            return f"No repair{so_far} writes “{self.place.text}” here: {tried}."
        n = len(self.repairs)
        several = "1 repair writes" if n == 1 else f"{n} repairs write"
        return f"{several} “{self.place.text}” here: {tried}."


def in_place(words: Sequence[str], word: int, right: Sequence[str], other: Sequence[str]) -> bool:
    """Tell whether another sentence has the right words in the place of one of these words.

    Either all words before it are the same, and the right ones follow; or both sentences are
    aligned by their longest common parts, and the right ones stand between the nearest common words
    before and behind it. Where the word itself is kept, they stand between it and the one before.

    >>> words = "Er saß auf der Bank des Flusses".split()
    >>> in_place(words, 4, ["Ufer"], "Er saß auf dem Ufer des Flusses".split())
    True
    >>> in_place(words, 4, ["Ufer"], "Er saß auf der Bank am Ufer".split())
    False
    """
    n = len(right)
    if [*other[: word + n]] == [*words[:word], *right]:
        return True
    blocks = SequenceMatcher(None, words, other, autojunk=False).get_matching_blocks()
    common = {block.a + i: block.b + i for block in blocks for i in range(block.size)}
    first = max((b + 1 for a, b in common.items() if a < word), default=0)
    end = min((b for a, b in common.items() if a >= word), default=len(other))
    if word in common and word and word - 1 not in common:
        return False
    between = [*other[first:end]]
    return any(between[i : i + n] == [*right] for i in range(len(between) - n + 1))


def repairs(
    checkpoint: Checkpoint,
    text: str,
    target: Sequence[Token],
    word: int,
    other: str,
    method: str = "greedy",
    options: Mapping[str, Any] | None = None,
    edits: Iterable[Edit | str] = (),
    on_step: OnStep | None = None,
) -> Repairs:
    """Find the changes after which the right word is written: see `repairing`."""
    inputs = (checkpoint, text, target, word, other, method, options, edits, on_step)
    *_, last = repairing(*inputs)
    return last


def repairing(
    checkpoint: Checkpoint,
    text: str,
    target: Sequence[Token],
    word: int,
    other: str,
    method: str = "greedy",
    options: Mapping[str, Any] | None = None,
    edits: Iterable[Edit | str] = (),
    on_step: OnStep | None = None,
    before: Repairs | None = None,
    others: Mapping[str, Mapping[str, Any]] | None = None,
) -> Iterator[Repairs]:
    """The same while it grows, after each change that is decoded.

    target: what the method, with these options and edits, has written. word: by number, from 0.
    other: the right word, or several. Tried are the other methods, each word of the text hidden,
    each head off, the strongest arrows cut, and the rows of `needed`. on_step: called between two
    passes; what it raises ends the search. before: an earlier result, which is continued.
    others: the options of the other methods, by their names; None: their usual ones, and the
    max_len in use; all options may name what `decode` takes of prefix, force and forbid. Raises
    InputError, of an edit EditError.
    """
    if not checkpoint.family.decodes:
        raise InputError(f"{checkpoint.name} writes nothing: there is no word to repair.")
    place = another_word(checkpoint, target, word, other)
    at = checkpoint, text, tuple(target), place, method, options or {}
    search = _Search(*at, edits_of(edits), on_step, others or {})
    yield from search.run(before)


def _size(repair: Repair) -> tuple[float, int]:
    """The cost, as it is shown; of equal ones the repair of fewer edits is the smaller."""
    return round(repair.cost, 2), len(repair.change.edits)


@dataclass(frozen=True)
class _Search:
    checkpoint: Checkpoint
    text: str
    target: tuple[Token, ...]
    place: AnotherWord
    method: str
    options: Mapping[str, Any]
    edits: tuple[Edit, ...]
    on_step: OnStep | None
    others: Mapping[str, Mapping[str, Any]]

    def run(self, before: Repairs | None) -> Iterator[Repairs]:
        methods = other_methods(self.method)
        at = self.checkpoint, self.text, self.target, self.place, self.edits
        every = changes(*at, self.on_step)
        forecasting = self._forecasting()
        forecasts = forecasting.of(every)
        chosen = self._chosen(forecasts)
        n_first = len(methods) + (not self.checkpoint.family.is_watched)
        right = [] if before is None else [*before.repairs]
        n_done, n_all = 0 if before is None else before.n_decoded, n_first + len(chosen)
        for number in range(n_done, n_all):
            if number < len(methods):
                repair = self._tried(methods[number], 0.0)
            elif number < n_first:
                repair = self._rows(forecasting)
            else:
                forecast = chosen[number - n_first]
                repair = self._tried(forecast.change, forecast.cost)
            right += [repair] * repair.writes_it
            right.sort(key=_size)
            if sum(not it.change.method for it in right) >= ENOUGH:
                n_all = number + 1
            counts = len(forecasts), number + 1, n_all
            yield Repairs(self.place, self.method, tuple(right), *counts)
            if number + 1 == n_all:
                return

    def _forecasting(self) -> Forecasting:
        begun = (*self.place.before, *self.place.other)
        end = continuation(
            *(self.checkpoint, self.text, begun, self.edits),
            on_step=self.on_step,
            max_len=self.options.get(MAX_LEN.name),
        )
        inputs = (self.checkpoint, self.text, self.target, self.place, (*begun, *end), self.edits)
        return Forecasting(*inputs, self.on_step)

    def _chosen(self, forecasts: Sequence[Forecast]) -> list[Forecast]:
        """Choose those to decode: the cheapest that should write the word, then the nearest ones.

        A search over several hypotheses chooses between sentences; any other between words.
        """
        of = decoding_methods(self.checkpoint.about)[self.method]
        by_sentence = of.n_rows(self.options) > 1

        def gain(each: Forecast) -> float:
            return each.margin if by_sentence else each.lead

        right = sorted((it for it in forecasts if gain(it) > 0), key=lambda it: it.cost)
        near = sorted((it for it in forecasts if gain(it) <= 0), key=gain, reverse=True)
        return [*right, *near][:MOST_DECODED]

    def _tried(self, change: Change, cost: float) -> Repair:
        """Decode with a change."""
        method, options = change.method or self.method, dict(self.options)
        if change.method:
            usual = {name: it for name, it in options.items() if name == MAX_LEN.name}
            options = dict(self.others.get(change.method, usual))
        edits = (*self.edits, *change.edits)
        by = (self.checkpoint, self.text, method)
        try:
            decoding = decode(*by, edits=edits, on_step=self.on_step, **options)
        except InputError:
            if not change.method:
                raise
            return Repair(change, "", (), cost, writes_it=False)  # it cannot place forced words
        words, new = words_of(self.target), words_of(decoding.target)
        writes_it = in_place(words, self.place.word, self.place.words, new)
        return Repair(change, decoding.text, decoding.target, cost, writes_it)

    def _rows(self, forecasting: Forecasting) -> Repair:
        """Rows for the right word's own pieces, of the least lead that is enough."""
        tried = Repair(Change("rows"), "", (), 0.0, writes_it=False)
        for margin in MARGINS:
            rows = self._rows_of(margin)
            if not rows:
                continue
            (forecast,) = forecasting.of([Change("rows", rows)])
            tried = self._tried(forecast.change, forecast.cost)
            if tried.writes_it:
                break
        return tried

    def _rows_of(self, margin: float) -> tuple[Edit, ...]:
        """Piece by piece: what the rows of one have changed is in force for the next."""
        right = (*self.place.before, *self.place.other)
        rows: tuple[Edit, ...] = ()
        for step in range(len(self.place.before) + self.place.n_shared, len(right)):
            result = needed(
                *(self.checkpoint, self.text, right, step, right[step].id),
                on_step=self.on_step,
                edits=(*self.edits, *rows),
                margin=margin,
            )
            rows = (*rows, *result.edits)
        return rows
