"""align(): which head of cross-attention aligns words, by which row, and the alignment by it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan
from typing import Any

import torch
from torch import Tensor

from transformer.analysis.alignment import (
    AlignedPair,
    Gold,
    Reader,
    ReaderPlace,
    anchored,
    check_gold,
    diagonal,
    largest_shares,
    read_gold,
    reader_of,
    words_of_pieces,
)
from transformer.analysis.corpus_sweep import interval
from transformer.checkpoint import Checkpoint, check_open
from transformer.corpus.batches import BatchAttention
from transformer.corpus.survey import BATCH, Portion, Surveyor, by_line, each_line
from transformer.corpus.surveyed import Estimate
from transformer.decoding.shared_batch import OnStep
from transformer.device import usual_state
from transformer.field_docs import fields_in_help
from transformer.files.foreign_text import csv_bytes
from transformer.in_a_line import in_a_line
from transformer.inputs import COUNT, FUNCTION, InputError, checks
from transformer.recording.data import place_of

# Pairs of texts, as they are read: each word of both, and what every reader links.

CHOOSING = 1000
"""Pairs that a reader is chosen by, where no gold says more: links of all readers are kept."""
AT_ONCE = 256
"""Pairs that are sorted by length together; what is aligned grows by as many."""


@dataclass(frozen=True)
class LinePair:
    """The words of a line, as spaces separate them, and which of them people linked."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    """Empty: the model writes it."""
    gold: Gold | None = None

    @property
    def text(self) -> str:
        """The line as a survey reads it."""
        return "\t".join(" ".join(side) for side in (self.source, self.target))


@fields_in_help
@dataclass(frozen=True, eq=False)
@in_a_line
class ReadPair:
    """A pair with the links of every reader: N of them, in the order of `readers`."""

    sentence: int
    """Its line, from 1."""
    source: tuple[str, ...]
    """Its words, as spaces separate them."""
    target: tuple[str, ...]
    """The same of the second text."""
    most: Tensor
    """[N, target words]: the source word that it gives most; as many as there are for none."""
    share: Tensor
    """[N, target words]: what it gives it."""
    counts: Tensor
    """[N + 1, 3], the diagonal last: links that are sure, that are possible, and all of them."""
    n_sure: int
    """The links that are to be found; 0: the pair says nothing of readers."""


@fields_in_help
@dataclass(frozen=True)
@in_a_line
class AlignedLine:
    """The alignment of a pair by one reader."""

    sentence: int
    """Its line, from 1."""
    source: tuple[str, ...]
    """Words, as spaces separate them."""
    target: tuple[str, ...]
    """The same of the second text, the given one or the model's."""
    links: tuple[tuple[int, int, float], ...]
    """A source word, a target word, counted from 0, and the weight between them."""

    @property
    def pharaoh(self) -> str:
        """The links as the field's tools read them: "0-0 1-2", the source's word first."""
        return " ".join(f"{i}-{j}" for i, j, _ in self.links)


def readers(n_layers: int, n_heads: int) -> list[Reader]:
    """Every way to read an alignment: both rows, each layer, its heads and their mean."""
    return [
        Reader(rows, layer, head)
        for rows in ("produced", "read")
        for layer in range(n_layers)
        for head in (*range(n_heads), None)
    ]


def counted(pair: AlignedPair, most: Tensor, only_touching: bool) -> Tensor:
    """most: [N, target words] -> [N, 3], how many links are sure, possible, and there at all.

    only_touching: only links that lead from or to a linked word count, as of others nothing is
    known.
    """
    n_source, n_target = len(pair.source_words), len(pair.target_words)
    is_sure, is_possible = (torch.zeros(n_source + 1, n_target, dtype=torch.bool) for _ in range(2))
    for is_linked, links in ((is_sure, pair.sure), (is_possible, pair.possible)):
        for i, j in links:
            is_linked[i, j] = True
    there, columns = most < n_source, torch.arange(n_target)
    if only_touching:
        there &= is_sure.any(1)[most] | is_sure.any(0)
    counts = is_sure[most, columns] & there, is_possible[most, columns] & there, there
    return torch.stack([each.sum(-1) for each in counts], -1)


# Readers against each other: an error rate each, with its interval over pairs.


@fields_in_help
@dataclass(frozen=True)
class ReaderScore:
    """The error of one reader, with its two parts."""

    reader: Reader
    error: Estimate
    """Alignment error rate in percent (Och and Ney 2003): 0 is best."""
    precision: float
    """The share of its links that are possible ones."""
    recall: float
    """The share of the sure links that it has."""


@fields_in_help
@dataclass(frozen=True, eq=False)
@in_a_line
class Readings:
    """The pairs that were read so far, with the links of every reader, and each reader's error."""

    by: str
    """"gold": links that people made, or "anchors": what both texts spell alike."""
    readers: tuple[Reader, ...] = ()
    """The N ways to read an alignment: rows, a layer, one of its heads or their mean."""
    pairs: tuple[ReadPair, ...] = ()
    """The pairs that were read, each with the links of every reader."""
    left_out: tuple[str, ...] = ()
    """Sentences that say which lines were left out, and why."""
    n_done: int = 0
    """The lines that were read or left out."""
    n_lines: int = 0
    """The lines that are to be read."""

    @cached_property
    def _telling(self) -> list[ReadPair]:
        """The pairs that say something: with gold those without a link, too."""
        return [pair for pair in self.pairs if pair.n_sure or self.by == "gold"]

    @property
    def n_pairs(self) -> int:
        """The pairs that say something of readers."""
        return len(self._telling)

    @property
    def n_links(self) -> int:
        """The links that were to be found in them: the sure ones, or the anchors."""
        return sum(pair.n_sure for pair in self._telling)

    @cached_property
    def _scores(self) -> tuple[list[ReaderScore], Estimate]:
        """Each reader's, and the diagonal's error."""
        counts = torch.stack([pair.counts for pair in self._telling]).double()  # [P, N + 1, 3]
        sizes = torch.tensor([pair.n_sure for pair in self._telling]).double()[:, None]  # [P, 1]
        sure, possible, every = counts.unbind(-1)
        of = every + sizes
        rates = interval((sure + possible) / of.clamp_min(1), of)
        shares = zip(rates.mean.tolist(), rates.low.tolist(), rates.high.tolist(), strict=True)
        errors = [
            Estimate(100 * (1 - mean), _error(high), _error(low), len(sizes))
            for mean, low, high in shares
        ]
        precision = (possible.sum(0) / every.sum(0).clamp_min(1)).tolist()
        recall = (sure.sum(0) / sizes.sum()).tolist()
        return [*map(ReaderScore, self.readers, errors, precision, recall)], errors[-1]

    @cached_property
    def scores(self) -> tuple[ReaderScore, ...]:
        """The best first; of equal ones a head before a mean. Empty where no pair says anything."""
        every = self._scores[0] if self.n_links else []
        return tuple(sorted(every, key=lambda each: each.error.mean))

    @property
    def diagonal(self) -> Estimate | None:
        """The error without a model: each word linked to the one at the same share of its text."""
        return self._scores[1] if self.n_links else None

    @property
    def best(self) -> Reader:
        """Raises InputError where no pair says anything."""
        if not self.scores:
            if not self.pairs:
                why = next(iter(self.left_out), "no cross-attention was seen.")
                raise InputError(f"There is no pair that can be aligned: {why}")
            what = "a sure link" if self.by == "gold" else "a word that both spell alike"
            raise InputError(
                f"No pair of texts has {what}, by which a head could be chosen: name the head, as "
                'reader=("read", 0, 6), in a shell --head 0.6 --rows read, or give other pairs.'
            )
        return self.scores[0].reader

    @property
    def alignment_heads(self) -> list[list[int]]:
        """Layers and heads for a generation config, as Whisper's has them, the best first.

        Their rows are those that write a word, as a generating model has no others. Beside the best
        these are the heads whose error is within its interval.
        """
        own = [each for each in self.scores if each.reader.rows == "produced"]
        own = [each for each in own if each.reader.head is not None]
        most = [each.error.high or each.error.mean for each in own[:1]]
        return [[it.reader.layer, it.reader.head or 0] for it in own if it.error.mean <= most[0]]

    def lines_by(self, reader: ReaderPlace) -> tuple[AlignedLine, ...]:
        """The alignment by one reader, as `align` takes it. Raises InputError and NoSuchHead."""
        reader = reader_of(reader)
        if not self.pairs:
            return ()
        n_layers = 1 + max(each.layer for each in self.readers)
        n_heads = max(each.head or 0 for each in self.readers) + 1
        layer = place_of("layer", reader.layer, n_layers, "cross")
        head = None if reader.head is None else place_of("head", reader.head, n_heads, "cross")
        at = self.readers.index(replace(reader, layer=layer, head=head))
        return tuple(_line(pair, at) for pair in self.pairs)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each reader, the best first, as files have it; of a mean the head is "mean"."""
        return [
            {
                "rows": each.reader.rows,
                "layer": each.reader.layer,
                "head": "mean" if each.reader.head is None else each.reader.head,
                "aer": each.error.mean,
                "low": each.error.low,
                "high": each.error.high,
                "precision": each.precision,
                "recall": each.recall,
                "pairs": each.error.n_sentences,
                "by": self.by,
            }
            for each in self.scores
        ]

    def to_csv(self) -> bytes:
        """Write these rows, in UTF-8."""
        cells = [[*map(_cell, row.values())] for row in self.rows]
        return csv_bytes([*self.rows[0]] if cells else (), cells)


def _cell(value: Any) -> Any:
    return f"{value:.6g}" if isinstance(value, float) else "" if value is None else value


def _error(share: float) -> float | None:
    return None if isnan(share) else 100 * (1 - share)


def _line(pair: ReadPair, at: int) -> AlignedLine:
    words, shares = pair.most[at].tolist(), pair.share[at].tolist()
    links = [(i, j, shares[j]) for j, i in enumerate(words) if i < len(pair.source)]
    return AlignedLine(pair.sentence, pair.source, pair.target, tuple(sorted(links)))


# The work: lines are read a batch at a time, by every reader.


class Aligner:
    """A checkpoint that aligns pairs of texts."""

    def __init__(
        self, checkpoint: Checkpoint, batch: int = BATCH, on_step: OnStep | None = None
    ) -> None:
        """on_step: as of `Surveyor`. Raises InputError where there is no cross-attention."""
        if "cross" not in checkpoint.family.attentions:
            raise InputError(
                f"{checkpoint.name} has no cross-attention: words are aligned by that of an "
                "encoder-decoder."
            )
        self._checkpoint = checkpoint
        self._surveyor = Surveyor(checkpoint, batch, on_step=on_step)

    def reading(
        self, lines: Mapping[int, LinePair], before: Readings | None = None, at_once: int = AT_ONCE
    ) -> Iterator[Readings]:
        """Read lines, in their order, some more each time; the reasons of refused ones are kept.

        before: what an earlier call gave last, of the same lines. Raises Refusal where the device
        fails.
        """
        by = "gold" if any(line.gold is not None for line in lines.values()) else "anchors"
        so_far, numbers = before or Readings(by, n_lines=len(lines)), list(lines)
        for first in range(so_far.n_done, len(numbers), at_once):
            some = {number: lines[number] for number in numbers[first : first + at_once]}
            portion, pairs = Portion(), list[ReadPair]()
            texts = {number: pair.text for number, pair in some.items()}
            for batch, attentions in self._surveyor.observe(texts, portion):
                for cross in (each for each in attentions if each.is_cross):
                    for at, text in enumerate(batch):
                        try:
                            pair = self._with_target(some[text.sentence], text.target)
                            pairs.append(_read(text.sentence, pair, cross, at))
                        except ValueError as error:
                            portion.left_out.append(f"line {text.sentence} is left out: {error}")
                    every = so_far.readers or tuple(readers(len(cross.calls), cross.n_heads))
                    so_far = replace(so_far, readers=every)
            pairs.sort(key=lambda each: each.sentence)
            so_far = replace(
                so_far,
                pairs=(*so_far.pairs, *pairs),
                left_out=(*so_far.left_out, *by_line(portion.left_out)),
                n_done=so_far.n_done + len(some),
            )
            yield so_far

    def _with_target(self, line: LinePair, written: Sequence[int] | None) -> LinePair:
        """A line with what the model wrote as its target, where it has none."""
        if line.target or written is None:
            return line
        words = tuple(self._checkpoint.tokenizer.decode(list(written)).split())
        if not words:
            raise InputError("the model writes nothing.")
        return replace(line, target=words)


@torch.inference_mode()
def _read(number: int, line: LinePair, cross: BatchAttention, at: int) -> ReadPair:
    """Read one text of a batch. Raises ValueError where the pieces do not spell the words."""
    n_queries, n_keys = int(cross.n_queries[at]), int(cross.n_words[at])
    layers = [cross.weights(layer)[at, :, :n_queries, :n_keys] for layer in range(len(cross.calls))]
    values = torch.cat([torch.cat([each, each.mean(0, keepdim=True)]) for each in layers])
    keys, written = cross.keys[at][:n_keys], cross.written[at]
    # A target that ends without an end token was never read to its end: its last word has no row.
    whole = (*cross.queries[at], *written[-1:])

    def most_by(source: Sequence[str], target: Sequence[str]) -> tuple[Tensor, Tensor]:
        columns, sizes = words_of_pieces(keys, source), (len(target), len(source))
        rows = [words_of_pieces(side, target)[:n_queries] for side in (written, whole)]
        by_rows = [largest_shares(values, each, columns, *sizes) for each in rows]
        most, share = (torch.cat(each) for each in zip(*by_rows, strict=True))
        return most, share.float()

    most, share = most_by(line.source, line.target)
    if line.gold is None:
        pair = anchored(" ".join(line.source), " ".join(line.target))
        judged, _ = most_by(pair.source_words, pair.target_words)
    else:
        pair, judged = AlignedPair("", "", line.source, line.target, *line.gold), most
    straight = [i for _, i in sorted((j, i) for i, j in diagonal(pair))]
    both = torch.cat([judged, torch.tensor([straight])])
    counts = counted(pair, both, only_touching=line.gold is None)
    return ReadPair(number, line.source, line.target, most.short(), share, counts, len(pair.sure))


# align(): the readers are scored over the pairs, and the pairs are aligned by the best one.


def pairs_of(
    sources: Sequence[str], targets: Sequence[str] | None = None, gold: Sequence[Gold] | None = None
) -> dict[int, LinePair]:
    """The pairs of lines, by number from 1. Raises InputError for links to no words."""
    result = {}
    for at, source in enumerate(sources):
        sides = tuple(source.split()), tuple(targets[at].split()) if targets else ()
        if gold is not None:
            check_gold(gold[at], *sides, at + 1)
        result[at + 1] = LinePair(*sides, None if gold is None else gold[at])
    return result


def aligning(
    aligner: Aligner, lines: Mapping[int, LinePair], reader: Reader | None = None
) -> Iterator[tuple[Readings, tuple[AlignedLine, ...]]]:
    """Read lines by every reader, then give the alignment by the best, some lines each time.

    reader: the one that aligns, whatever is best. Without gold `CHOOSING` lines choose, and all
    others are aligned alone. Raises InputError where no pair says anything, and none is asked for.
    """
    numbers = list(lines)
    has_gold = any(line.gold is not None for line in lines.values())
    first = numbers if has_gold else numbers[:CHOOSING]
    readings = Readings("anchors")
    for readings in aligner.reading({number: lines[number] for number in first}):
        yield readings, ()
    reader = reader or readings.best
    yield readings, readings.lines_by(reader)
    for start in range(len(first), len(numbers), AT_ONCE):
        some = {number: lines[number] for number in numbers[start : start + AT_ONCE]}
        *_, more = aligner.reading(some)
        left_out = (*readings.left_out, *more.left_out)
        readings = replace(readings, left_out=left_out, n_done=readings.n_done + len(some))
        yield readings, more.lines_by(reader)


@fields_in_help
@dataclass(frozen=True, eq=False)
class Alignment:
    """Pairs of texts aligned by one head of cross-attention, and how well every head does it."""

    readings: Readings
    """Every reader's links and errors, of the pairs that were read."""
    reader: Reader
    """The best one, or the one that was asked for."""
    lines: tuple[AlignedLine, ...]
    """One a pair that was aligned, in their order."""

    def __repr__(self) -> str:
        return f"Alignment({len(self.lines)} pairs by {self.reader}, of {len(self.scores)} readers)"

    @property
    def scores(self) -> tuple[ReaderScore, ...]:
        """Every reader's, the best first."""
        return self.readings.scores

    @property
    def alignment_heads(self) -> list[list[int]]:
        """[layer, head] of each, for a generation config."""
        return self.readings.alignment_heads


@usual_state()
@checks(batch=COUNT, on_step=FUNCTION.or_none)
def align(
    checkpoint: Checkpoint,
    sentences: Iterable[str],
    targets: Iterable[str] | None = None,
    gold: Iterable[str] | None = None,
    reader: ReaderPlace | None = None,
    batch: int = BATCH,
    on_step: OnStep | None = None,
) -> Alignment:
    """Find the head of cross-attention that aligns words best, and align sentences by it.

    Readers compete: every head, and the mean of a layer's heads (Garg et al. 2019), each by the row
    that writes a word (Zenkel et al. 2019) and by the next row, which has just read it (Chen et al.
    2020, section 3.2). A target word is linked to the source word that its row gives most.

    checkpoint: an encoder-decoder; open, or its name or path.
    sentences: the texts that are read; their words are what spaces separate.
    targets: a translation for each; None: what greedy decoding writes.
    gold: for each pair its links, as "0-0 1-2 3?3": source word and target word, counted from 0,
        "?" where a link is only possible. None: readers are judged by the words and signs that both
        texts spell alike.
    reader: the one to align by: ("read", 0, 6) for the row that has read a word, "produced" for the
        one that writes it, then layer and head, None for the mean of its heads; or the `Reader` of
        another alignment, as `.scores[2].reader`. None: the best one.
    batch: sentences that are read together.
    on_step: called before each batch that is read, or whose targets are written, without arguments;
        it may wait, and what it raises ends the run.

    Returns an `Alignment`: `.lines`, of each pair links (source word, target word, weight), and
    `.scores`, every reader's error rate in percent (Och and Ney 2003), the best first. A sentence
    that cannot be read is missing, and `.readings.left_out` says why. Raises CheckpointError,
    InputError, also where no pair says which reader is best, and NoSuchHead for another reader.
    """
    check_open(checkpoint)
    sources = each_line("align", "sentences", sentences)
    written = None if targets is None else each_line("align", "targets", targets)
    if written is not None and len(written) != len(sources):
        raise InputError(f"There are {len(sources)} sentences and {len(written)} targets.")
    if gold is not None and written is None:
        raise InputError("A gold alignment is of given targets: give them, too.")
    own = None if reader is None else reader_of(reader)
    links = None if gold is None else read_gold(each_line("align", "gold", gold), len(sources))
    if not sources:
        raise InputError("There is no sentence to align: give at least one.")
    aligner = Aligner(checkpoint, batch, on_step)
    steps = [*aligning(aligner, pairs_of(sources, written, links), own)]
    readings, _ = steps[-1]
    lines = tuple(line for _, some in steps for line in some)
    return Alignment(readings, own or readings.best, lines)
