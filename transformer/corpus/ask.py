"""The heads that answer a question: “who links it to phone?”.

`answers` ranks the heads of a recording by a pattern, and `over` says how often each head does the
like on other sentences. `transformer.corpus.questions` reads questions.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from transformer.checkpoint import Checkpoint
from transformer.corpus.questions import Cells, Pattern, Spot, bare, cells_at, cells_of, words_of
from transformer.corpus.shipped import Place
from transformer.corpus.targets import judged_targets
from transformer.inputs import InputError
from transformer.recording import Recording
from transformer.recording.ours import record
from transformer.tokenizer import TokenizerError

_SPECIAL = re.compile(r"<.+>|\[.+\]")
"""Special tokens, as the end: a text has them though it does not spell them."""
AT_A_TIME = 16
"""Sentences that are decoded together, while nobody else has the device."""
LEAST_GAIN = 0.1
"""The share, of what chance leaves, that a head gains which looks there at all."""


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
    elsewhere: float
    """The largest weight on any other word: of the query, or the mean over all such words."""

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
    of_kinds = cells_of(pattern, recording) if spot is None else cells_at(spot, recording)
    for kind, cells in of_kinds.items():
        for layer in range(cells.map.n_layers):
            result += _answers(cells, kind, layer)
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
    pattern: Pattern,
    checkpoint: Checkpoint,
    sentences: Sequence[str],
    before: Mapping[Place, Frequency] | None = None,
) -> Iterator[dict[Place, Frequency]]:
    """Count on sentences how often each head looks there most: the counts after each sentence.

    before: those of other sentences, to which these are added. Sentences without the words of the
    pattern change nothing; what the others write is decoded some at a time. Raises DeviceError.
    """
    counts = dict(before or {})
    sides = [[*map(bare, words_of(word))] for word in _of_source(pattern, checkpoint)]
    for start in range(0, len(sentences), AT_A_TIME):
        some = sentences[start : start + AT_A_TIME]
        targets = judged_targets(checkpoint, [each for each in some if _has_words(each, sides)])
        for text in some:
            if text in targets:
                with suppress(InputError, TokenizerError):  # without such words after all
                    recording = record(checkpoint, text, targets[text])
                    for kind, cells in cells_of(pattern, recording).items():
                        for layer in range(cells.map.n_layers):
                            for head, (n_rows, n_largest) in enumerate(cells.counts(layer)):
                                of = counts.get((kind, layer, head), Frequency(0, 0, 0))
                                counts[kind, layer, head] = Frequency(
                                    of.n_rows + n_rows,
                                    of.n_largest + n_largest,
                                    of.n_sentences + bool(n_rows),
                                )
            yield dict(counts)


def _has_words(text: str, sides: Sequence[Sequence[str]]) -> bool:
    return all(any(word in bare(text) for word in words) for words in sides)


def _of_source(pattern: Pattern, checkpoint: Checkpoint) -> list[str]:
    """The words that only the source can have: those of an output are known when it is written."""
    words = [word for word in (pattern.query, pattern.key) if word and not _SPECIAL.search(word)]
    if pattern.kind == "encoder_self" or not checkpoint.family.decodes:
        return words
    return words if checkpoint.family.continues else []


def _answers(cells: Cells, kind: str, layer: int) -> Iterator[Answer]:
    """The answer of each head of a layer, before they are ranked."""
    values = cells.map.values(layer)
    are = cells.are[layer]
    largest = values.masked_fill(~are, -1.0).flatten(1).argmax(-1).tolist()
    has_cells, alike = are.any(-1), cells.alike(layer)
    n_rows, others = has_cells.sum(-1), values.masked_fill(are, 0.0).amax(-1)
    elsewhere = (others * has_cells).sum(-1) / n_rows
    means, chances = (
        (each.masked_fill(~are, 0.0).sum((-2, -1)) / n_rows).tolist() for each in (values, alike)
    )
    for head in n_rows.nonzero().flatten().tolist():
        (row, column), mean = divmod(largest[head], are.size(-1)), means[head]
        weight = float(values[head, row, column])
        yield Answer(
            kind,
            layer,
            head,
            weight=weight if cells.is_one else mean,
            margin=0.0,
            is_largest=weight >= float(values[head, row].max()),
            query=cells.map.row_groups[row],
            key=cells.map.column_groups[column],
            chance=float(alike[head, row, column]) if cells.is_one else chances[head],
            elsewhere=float(others[head, row] if cells.is_one else elsewhere[head]),
        )
