"""Repairs: the smallest changes after which a model really writes the right word."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any, Literal

import torch
from torch import Tensor

from transformer.analysis.ablation import heads_off
from transformer.analysis.needed import Head, needed
from transformer.analysis.scored import Output, scored
from transformer.causes.arrows import arrows
from transformer.causes.contrast import AnotherWord, another_word
from transformer.causes.prefix import continuation
from transformer.checkpoint import Checkpoint
from transformer.decoding.decode import decode, decoding_methods
from transformer.decoding.method import MAX_LEN
from transformer.decoding.shared_batch import OnStep
from transformer.editing.checking import side_read
from transformer.editing.editor import within
from transformer.edits.edit import Edit
from transformer.edits.spelling import edits_of
from transformer.inputs import InputError
from transformer.recording.ours import record
from transformer.token import Token
from transformer.words import word_groups, words_of

# The changes that could make a model write another word, and what each does to a sentence.

N_ARROWS = 20
"""The strongest arrows of the row that writes the word, each of which is cut."""
MOST_RUNS = 200
"""Changes of a model that is watched, at most: it runs twice for each."""

Kind = Literal["method", "word hidden", "head off", "arrow cut", "rows"]


@dataclass(frozen=True)
class Change:
    """Something that is done otherwise: another decoding method, or edits of the model."""

    kind: Kind
    edits: tuple[Edit, ...] = ()
    method: str = ""
    """The other method, with its usual options; empty: the one in use."""


@dataclass(frozen=True)
class Forecast:
    """The effects of a change by forced passes, before anything is decoded with it; in nats."""

    change: Change
    cost: float
    """The loss of the other written words, all together."""
    lead: float
    """The lead of the right word over the written one."""
    margin: float
    """The lead of the sentence that goes on with the right word over the written sentence."""


def other_methods(method: str) -> list[Change]:
    """Every method that writes by itself but the one in use."""
    every = decoding_methods().items()
    return [Change("method", (), it) for it, of in every if not of.needs_target and it != method]


def changes(
    checkpoint: Checkpoint,
    text: str,
    target: Sequence[Token],
    place: AnotherWord,
    edits: Sequence[Edit],
    on_step: OnStep | None = None,
) -> list[Change]:
    """Each word that is read hidden, each head off, and the strongest arrows cut.

    edits: in force, none of which is a change. on_step: called before each batch. Raises
    InputError, of an edit EditError.
    """
    plain = record(checkpoint, text, target, edits)
    hidden = (Edit("hide", side_read(checkpoint), (i,)) for i in range(_n_words(plain.source)))
    output = Output(text, tuple(target), tuple(target))
    groups: dict[Kind, Iterable[Edit]] = {
        "word hidden": hidden,
        "head off": heads_off(checkpoint, output),
        "arrow cut": _strongest(checkpoint, text, target, place, edits, on_step),
    }
    every = [Change(kind, (it,)) for kind, some in groups.items() for it in some if it not in edits]
    return every[:MOST_RUNS] if checkpoint.family.is_watched else every


def _n_words(tokens: Sequence[Token]) -> int:
    return len(word_groups(tokens))


def _strongest(
    checkpoint: Checkpoint,
    text: str,
    target: Sequence[Token],
    place: AnotherWord,
    edits: Sequence[Edit],
    on_step: OnStep | None,
) -> list[Edit]:
    """The arrows whose cuts cost the written word most beyond what they cost the right one.

    Of a model that is watched, and under edits, those of the largest weights: there each arrow
    that is cut needs a whole run.
    """
    step = len(place.before) + place.n_shared
    if step >= len(target) or place.n_shared >= len(place.other):
        return []
    if checkpoint.family.is_watched or edits:
        return _heaviest(checkpoint, text, target, step, edits)
    written, other = (
        arrows(checkpoint, text, tokens, step, on_step=on_step)
        for tokens in (target[: step + 1], (*place.before, *place.other)[: step + 1])
    )
    worth = [
        (value, Edit("cut", kind, (layer, head, written.query, key)))
        for (kind, layer), costs in written.costs.items()
        for head, row in enumerate((costs - other.costs[kind, layer]).tolist())
        for key, value in enumerate(row)
        if value == value
    ]
    return [edit for _, edit in sorted(worth, key=lambda pair: -pair[0])[:N_ARROWS]]


def _heaviest(
    checkpoint: Checkpoint, text: str, target: Sequence[Token], step: int, edits: Sequence[Edit]
) -> list[Edit]:
    recording = record(checkpoint, text, target, edits)
    kind = "cross" if "cross" in recording.attentions else "decoder_self"
    attention = recording.attentions.get(kind)
    if attention is None:
        return []
    query = len(attention.queries) - len(target) + step
    worth = [
        (weight, Edit("cut", kind, (layer, head, query, key)))
        for layer in range(attention.n_layers)
        for head in range(attention.n_heads)
        for key, weight in enumerate(attention.weights(layer, head)[query].tolist())
    ]
    return [edit for _, edit in sorted(worth, key=lambda pair: -pair[0])[:N_ARROWS]]


@dataclass(frozen=True)
class Forecasting:
    """Judges changes by two forced passes each: over what is written, and over the right words."""

    checkpoint: Checkpoint
    text: str
    target: tuple[Token, ...]
    """The written sentence."""
    place: AnotherWord
    right: tuple[Token, ...]
    """The sentence up to the word, the right word, and how the model continues it."""
    edits: tuple[Edit, ...]
    """In force all the while."""
    on_step: OnStep | None = None

    def of(self, every: Sequence[Change]) -> list[Forecast]:
        """One for each change that the model can have. Raises InputError, EditError."""
        groups = [self.edits, *((*self.edits, *each.edits) for each in every)]
        written, right = (
            torch.cat(list(self._scores(it, groups))) for it in (self.target, self.right)
        )
        rows = zip(every, written[1:], right[1:], strict=True)
        forecasts = [self._forecast(change, written[0], *pair) for change, *pair in rows]
        return [each for each in forecasts if each.cost == each.cost]

    def _scores(
        self, target: tuple[Token, ...], groups: Sequence[Sequence[Edit]]
    ) -> Iterator[Tensor]:
        """Log-probabilities [N, T] in float64; not a number where an edit cannot be made."""
        groups = [within(self.checkpoint, self.text, target, group) for group in groups]
        output = Output(self.text, target, target)
        for part in scored(self.checkpoint, output, groups, on_step=self.on_step):
            yield part.log_probs.double()

    def _forecast(self, change: Change, plain: Tensor, written: Tensor, right: Tensor) -> Forecast:
        """plain: of what is written, without the change; written, right: with it. [T] each."""
        first, place = len(self.place.before), self.place
        own = slice(first, first + len(place.written))
        lost = plain - written
        lead = right[first : first + len(place.other)].sum() - written[own].sum()
        return Forecast(
            change,
            cost=float(lost.sum() - lost[own].sum()),
            lead=float(lead),
            margin=float(right.sum() - written.sum()),
        )


# Repairs: the smallest changes after which a model really writes the right word.
#
# A change counts only once the decoding in use has written with it, and the sentence is kept.
# Which of many changes are decoded is forecast by forced passes, all changes in a batch.

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
    """At most, until changes were forecast."""
    has_rows: bool = False
    """True: rows were tried, which come last."""

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
    heads: Sequence[Head] | None = None,
) -> Iterator[Repairs]:
    """The same while it grows, after each change that is decoded: methods first, and rows last.

    target: what the method, with these options and edits, has written. word: by number, from 0.
    other: the right word, or several. Tried are the other methods, each word of the text hidden,
    each head off, the strongest arrows cut, and the rows of `needed`. on_step: called before each
    pass; what it raises ends the search. before: an earlier result, which is continued.
    others: the options of the other methods, by their names; None: their usual ones, and the
    max_len in use; all options may name what `decode` takes of prefix, force and forbid. heads:
    those whose rows may change; None: as `needed` says. Raises InputError, of an edit EditError.
    """
    if not checkpoint.family.decodes:
        raise InputError(f"{checkpoint.name} writes nothing: there is no word to repair.")
    place = another_word(checkpoint, target, word, other)
    at = checkpoint, text, tuple(target), place, method, options or {}
    search = _Search(*at, edits_of(edits), on_step, others or {}, heads)
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
    heads: Sequence[Head] | None

    def run(self, before: Repairs | None) -> Iterator[Repairs]:
        now = before or Repairs(self.place, self.method)
        methods, n_rows = other_methods(self.method), int(not self.checkpoint.family.is_watched)
        # 1. Other methods, which no forecast chooses: the first results are there at once.
        for change in methods[now.n_decoded :]:
            now = self._with(now, self._tried(change, 0.0), len(methods) + MOST_DECODED + n_rows)
            yield now
        # 2. Those of the best forecasts; then rows, whose gradients take longer than all the rest.
        at = self.checkpoint, self.text, self.target, self.place, self.edits, self.on_step
        forecasting = self._forecasting()
        forecasts = forecasting.of(changes(*at))
        chosen = self._chosen(forecasts)
        n_all = len(methods) + len(chosen) + n_rows
        now = replace(now, n_changes=len(forecasts), n_to_decode=n_all)
        left = chosen[now.n_decoded - len(methods) - now.has_rows :]
        n_right = sum(not it.change.method for it in now.repairs)
        while not now.is_whole:
            if n_rows and not now.has_rows and (n_right == ENOUGH - 1 or not left):
                now = replace(self._with(now, self._rows(forecasting), n_all), has_rows=True)
            else:
                it = left.pop(0)
                now = self._with(now, self._tried(it.change, it.cost), n_all)
            n_right = sum(not it.change.method for it in now.repairs)
            if n_right >= ENOUGH:
                now = replace(now, n_to_decode=now.n_decoded)
            yield now
        if not chosen and not n_rows:
            yield now

    def _with(self, now: Repairs, repair: Repair, n_all: int) -> Repairs:
        """The same after one more that was decoded."""
        right = tuple(sorted((*now.repairs, *[repair] * repair.writes_it), key=_size))
        return replace(now, repairs=right, n_decoded=now.n_decoded + 1, n_to_decode=n_all)

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
                *(self.checkpoint, self.text, right, step, right[step].id, self.heads),
                on_step=self.on_step,
                edits=(*self.edits, *rows),
                margin=margin,
            )
            rows = (*rows, *result.edits)
        return rows


# Repairs of a written word, as values for JSON and as lines for a shell.

MOST = 12
"""Repairs that have a line."""


def repairs_values(result: Repairs) -> dict[str, Any]:
    """Name -> value of everything, as JSON has them."""
    return {
        "text": result.text,
        "n_changes": result.n_changes,
        "n_decoded": result.n_decoded,
        "repairs": [
            {
                "kind": it.change.kind,
                "method": it.change.method,
                "edits": [str(edit) for edit in it.change.edits],
                "cost": it.cost,
                "text": it.text,
            }
            for it in result.repairs
        ],
    }


def repairs_lines(result: Repairs) -> list[str]:
    """A line for each of the cheapest: its cost, what is changed, and what is written then."""
    lines = [result.text]
    for it in result.repairs[:MOST]:
        lines.append(f"{it.cost:6.2f} nats  {changed(it.change)}: {it.text}")
    return lines


def changed(change: Change) -> str:
    """Say what a change does, as a shell spells it."""
    if change.method:
        return f"--method {change.method}"
    if change.kind == "rows":
        return f"{len(change.edits)} rows forced"
    return " ".join(map(str, change.edits))
