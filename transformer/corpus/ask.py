"""Questions about heads in a small fixed grammar: “who links it to phone?”.

A question becomes a Pattern: a word that looks, a word that is looked at, or a place that is looked
at, such as the previous word. `answers` ranks the heads of a recording by it, and `over` says how
often each head does the like on other sentences.
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
from transformer.corpus.shipped import Place
from transformer.inputs import InputError
from transformer.recording import Recording
from transformer.recording.ours import record
from transformer.refusal import Refusal, quoted
from transformer.token import Token

GRAMMAR = (
    "who links WORD to WORD? · who looks at WORD? · where does WORD look? · who looks at the "
    "previous word? (or next, first, same word, or the end) · from WORD to WORD; and at the end, "
    "where wanted, in the encoder, in the decoder or in cross-attention"
)
"""The questions that are understood."""
PLACES: dict[str, tuple[str, ...]] = {
    "previous": ("previous", "previous word", "previous one", "word before", "one before"),
    "next": ("next", "next word", "next one", "word after", "one after", "following word"),
    "first": ("first", "first word", "beginning", "start"),
    "same": ("itself", "themselves", "same word", "word itself", "own word", "same"),
    "end": ("end", "end token", "last token", "end of the text", "end of the sentence"),
}
"""Name of a place that is looked at -> how it is asked for, without “the”."""
KINDS = {
    "encoder": "encoder_self",
    "decoder": "decoder_self",
    "cross-attention": "cross",
    "cross attention": "cross",
    "cross": "cross",
}
_WHO = r"(?:who|which heads?|what heads?|heads? that)"
_LOOKS = r"(?:looks? (?:back )?(?:at|to)|attends? to|reads?|sees?)"
_LINKS = r"(?:links?|connects?|joins?|ties)"
_QUESTIONS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_WHO} {_LINKS} (?P<query>.+?) (?:to|with|and) (?P<key>.+)",
        rf"{_WHO} (?:looks?|attends?) from (?P<query>.+?) (?:to|at) (?P<key>.+)",
        rf"{_WHO} {_LOOKS} (?P<key>.+?)(?: from (?P<query>\S+))?",
        r"(?:where|what) does (?P<query>.+?) (?:look|attend)(?: at| to)?",
        r"from (?P<query>.+?) (?:to|at) (?P<key>.+)",
        r"(?P<query>\S+) (?:->|→|to) (?P<key>\S+)",
    )
)
_IN = re.compile(rf" in (?:the )?({'|'.join(KINDS)})$", re.IGNORECASE)
_MARKS = "*_\"'“”„‘’`«» "


@dataclass(frozen=True)
class Pattern:
    """Something that a head may do, by words. An empty word is any."""

    query: str = ""
    key: str = ""
    place: str = ""
    """One of `PLACES`, in place of a key."""
    kind: str = ""
    """The kind of attention; empty: any."""

    def __str__(self) -> str:
        """Spell it as a question that `ask` reads as this pattern."""
        place = f"the {PLACES[self.place][0]}" if self.place else ""
        end = next((f" in {name}" for name, kind in KINDS.items() if kind == self.kind), "")
        query, key = _spelled(self.query), place or _spelled(self.key)
        if not key:
            return f"where does {query} look{end}?"
        return f"who links {query} to {key}{end}?" if query else f"who looks at {key}{end}?"


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


def ask(text: str) -> Pattern:
    """Read a question. Raises InputError, which says what can be asked.

    >>> ask("Who links *it* to *phone*?")
    Pattern(query='it', key='phone', place='', kind='')
    >>> ask("who looks at the previous word in the decoder?").place
    'previous'
    """
    question = " ".join(text.split()).rstrip("?!. ")
    kind = ""
    if end := _IN.search(question):
        kind, question = KINDS[end[1].lower()], question[: end.start()]
    for pattern in _QUESTIONS:
        if match := pattern.fullmatch(question):
            parts = match.groupdict()
            query, key = (_word(parts.get(side) or "") for side in ("query", "key"))
            place = _place(parts.get("key") or "")
            result = Pattern(query, "" if place else key, place, kind)
            if result.query or result.key or result.place:
                return result
    raise InputError(f"The question {quoted(text)} is none of these: {GRAMMAR}.")


def _word(text: str) -> str:
    """A word without the marks around it, and without “the word” or “the” before it."""
    name = re.sub(r"^the (?:word )?(?=\S)", "", text.strip(), flags=re.IGNORECASE)
    is_spelled = len(name) > 2 and name[0] == name[-1] == "*"
    return name.strip(_MARKS) or (name[1:-1] if is_spelled else name)


def _spelled(word: str) -> str:
    """A word as questions have it: in asterisks, where it would be read as something else."""
    return word if re.fullmatch(r"[\w'’-]*\w", word) and not _place(word) else word and f"*{word}*"


def _place(text: str) -> str:
    """The place that these words ask for; a word in quotes or asterisks is a word."""
    name = text.strip().lower().removeprefix("the ")
    return next((place for place, names in PLACES.items() if name in names), "")


def answers(pattern: Pattern, recording: Recording) -> list[Answer]:
    """Rank heads by how much they do it, the first first.

    Raises InputError where the text has no such word, or nothing of this kind.
    """
    result: list[Answer] = []
    for kind, cells in _cells(pattern, recording).items():
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
    words = [_bare(word) for word in _of_source(pattern, checkpoint)]
    for text in sentences:
        if not all(word in _bare(text) for word in words):
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
    words = [word for word in (pattern.query, pattern.key) if word]
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
        n_rows = are.any(-1).sum(-1)
        means = (values.masked_fill(~are, 0.0).sum((-2, -1)) / n_rows).tolist()
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
            )

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
        if is_same and pattern.query and _bare(pattern.query) == _bare(pattern.key):
            are.fill_diagonal_(False)  # a word's own cell is the place “itself”
        allowed = [map.allowed(layer) for layer in range(map.n_layers)]
        layers = tuple(are & each & (each.sum(-1, keepdim=True) > 1) for each in allowed)
        if any(each.any() for each in layers):
            result[kind] = _Cells(map, layers, bool(pattern.query) and not pattern.place)
    if not result:
        where = f" in attention of the kind {pattern.kind}" if pattern.kind else ""
        raise InputError(
            f"Nothing{where} fits {quoted(str(pattern))}: ask for words that stand in the text and "
            "that attention of one kind joins, or for “itself”, if you mean a word's own place."
        )
    return result


def _matches(words: Sequence[Token], word: str) -> Tensor:
    """The words that are this one, in any case; any that is not special, where it is empty."""
    if not word:
        return torch.tensor([not each.special for each in words])
    return torch.tensor([_bare(each.piece) == _bare(word) for each in words])


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
