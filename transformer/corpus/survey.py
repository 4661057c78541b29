"""survey(): what each head of a model does over many sentences."""

import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch

from transformer.checkpoint import Checkpoint, check_open
from transformer.corpus.batches import (
    BatchAttention,
    Names,
    Text,
    batches,
    observed,
    of_like_length,
    of_recording,
    why_alone,
)
from transformer.corpus.measured import SentenceHeads, measured
from transformer.corpus.shards import Shard, table_of, write_part
from transformer.corpus.summary import summary
from transformer.corpus.surveyed import Survey
from transformer.corpus.targets import takes_batches, targets_of
from transformer.corpus.trees import Tree
from transformer.decoding.decode import decode
from transformer.decoding.shared_batch import OnStep, in_steps
from transformer.device import (
    PRECISION,
    DeviceError,
    NotFinite,
    device_trouble,
    precision_of,
    usual_state,
)
from transformer.engines.engine import Done, Work
from transformer.formats.opening import load_checkpoint
from transformer.inputs import COUNT, FUNCTION, InputError, checks, source_ids, target_ids
from transformer.models.family import Ids
from transformer.models.token_model import check_mode
from transformer.recording.ours import record
from transformer.refusal import Refusal, items_of, quoted
from transformer.tokenizer import TokenizerError

# A survey of some lines: read, decode, observe, measure, in batches where the model takes them.

BATCH = 32
"""Texts of a batch: with more of them padding costs what they gain."""
WIDER = 4
"""Times as many are decoded together: a step reads one token of each, and rows end early."""
Lines = Mapping[int, str]
"""Number of a line, from 1 -> a source, or a source, a tab and its target."""


@dataclass(eq=False)
class Portion:
    """The result of some lines."""

    heads: list[SentenceHeads] = field(default_factory=list)
    """They are ordered by sentence, and by kind as in the model."""
    left_out: list[str] = field(default_factory=list)
    """Sentences that say which lines are missing, and why."""
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    """Seconds of "decode", "record" and "metrics"."""

    @contextmanager
    def leaving_out(self, number: int) -> Iterator[None]:
        """Leave a line out that is refused while this is entered; the others go on."""
        try:
            yield
        except (InputError, TokenizerError, NotFinite) as error:
            self.leave_out(number, error)

    def leave_out(self, number: int, error: Refusal) -> None:
        """Say why a line is missing."""
        self.left_out.append(f"line {number} is left out: {error}")

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Count what is done while entered."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] += time.perf_counter() - start


def source_of(line: str) -> str:
    """Return a line's source, without the spaces around it; empty where there is none."""
    return line.partition("\t")[0].strip()


def empty_lines(lines: Sequence[str]) -> list[str]:
    """Say of each line without a sentence, which may have a target, that it is left out."""
    numbered = enumerate(lines, 1)
    return [f"line {n} is left out: it is empty." for n, line in numbered if not source_of(line)]


def by_line(reasons: Iterable[str]) -> list[str]:
    """Reasons why lines are left out, in the order of the lines."""
    return sorted(reasons, key=lambda reason: int(reason.split()[1]))


def counted(checkpoint: Checkpoint, lines: Iterable[str]) -> dict[int, int]:
    """Count the tokens of all sources, and of continuations that are read with them.

    What is rare is said by them. Refused lines have none.
    """
    counts: Counter[int] = Counter()
    family = checkpoint.family
    for line in lines:
        try:
            ids: Ids = source_ids(checkpoint, source_of(line))
            if family.continues:
                target = _target(checkpoint, line, len(ids))
                ids = family.forced_pass(checkpoint.config, ids, target).inputs[0]
            counts.update(ids)
        except Refusal:
            continue
    return dict(counts)


def _target(checkpoint: Checkpoint, line: str, n_source: int) -> list[int] | None:
    """The target that stands in a line; what writes nothing has none. Raises InputError."""
    target = line.partition("\t")[2].strip()
    if not target or checkpoint.family.target == "none":
        return None
    return target_ids(checkpoint, target, n_source)


class Surveyor:
    """A checkpoint that surveys lines; what it makes of a line depends on no other call."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        batch: int = BATCH,
        counts: Mapping[int, int] | None = None,
        trees: Mapping[int, Tree] | None = None,
        on_step: OnStep | None = None,
    ) -> None:
        """batch: texts at a time; counts: see `counted`; trees: number of a line -> its tree.

        on_step: called before each batch that is read, and before each whose targets are written.
        """
        check_mode(checkpoint)
        self._checkpoint, self._batch, self._counts = checkpoint, batch, counts
        self._trees, self._on_step = trees, on_step
        self._names = Names(checkpoint)
        self.why_alone = why_alone(checkpoint)
        """The reason, in a clause, why texts are read one by one; empty: they are not."""

    def survey(self, lines: Lines) -> Portion:
        """Survey lines; what is refused, as empty ones are, is left out, and the reason kept.

        Raises Refusal where the device fails.
        """
        portion = Portion()
        for texts, attentions in self.observe(lines, portion):
            sentences = [each.sentence for each in texts]
            with portion.timed("metrics"), torch.inference_mode():
                for attention in attentions:
                    portion.heads += measured(attention, sentences, self._counts, self._trees)
        portion.heads.sort(key=lambda each: each.sentence)  # stable: kinds keep their order
        portion.left_out = by_line(portion.left_out)
        return portion

    def observe(
        self, lines: Lines, portion: Portion
    ) -> Iterator[tuple[list[Text], list[BatchAttention]]]:
        """Give texts with their attention, a batch at a time; what is refused is left out.

        Raises Refusal where the device fails.
        """
        texts = self._texts(lines, portion)
        n_heads = int(getattr(self._checkpoint.config, "n_heads", 16))
        together = batches(texts, 1 if self.why_alone else self._batch, n_heads)
        waiting = deque(some for every in together for some in self._apart(every))
        while waiting:
            batch, attentions = waiting.popleft(), list[BatchAttention]()
            if self._on_step is not None:
                self._on_step()
            try:
                with device_trouble(), portion.timed("record"):
                    attentions = self._observed(batch, lines)
            except (InputError, TokenizerError, NotFinite) as error:
                if len(batch) > 1:  # a module of one's own: all but some of them may be read
                    waiting.extendleft([each] for each in batch)
                    continue
                portion.leave_out(batch[0].sentence, error)
            yield batch, attentions

    def _apart(self, batch: list[Text]) -> list[list[Text]]:
        """Part texts of which a side is one token in each: its kinds are told of one text alone."""
        if not self._checkpoint.family.is_watched:
            return [batch]
        sides = zip(*(each.forced.inputs for each in batch), strict=True)
        is_one = any(max(map(len, side)) == 1 for side in sides)
        return [[each] for each in batch] if is_one else [batch]

    def _observed(self, batch: Sequence[Text], lines: Lines) -> list[BatchAttention]:
        if not self.why_alone and (len(batch) > 1 or not self._checkpoint.family.is_own):
            return observed(self._checkpoint, batch, self._names)
        (text,) = batch
        target = None if text.target is None else self._names(text.target, is_source=False)
        source = source_of(lines[text.sentence])
        recording = record(self._checkpoint, source, target)
        if recording.varies:
            raise InputError(recording.varies)
        return of_recording(recording)

    def _texts(self, lines: Lines, portion: Portion) -> list[Text]:
        """Read and decode; what is refused is left out."""
        checkpoint, texts = self._checkpoint, []
        sources: dict[int, list[int]] = {}
        targets: dict[int, list[int] | None] = {}
        with device_trouble(), portion.timed("decode"):
            for number, line in lines.items():
                with portion.leaving_out(number):
                    ids = source_ids(checkpoint, source_of(line))
                    targets[number] = _target(checkpoint, line, len(ids))
                    sources[number] = ids
            if checkpoint.family.target == "needed":
                self._decode(sources, targets, lines, portion)
        for number, ids in sources.items():
            target = targets[number]
            if target is not None or checkpoint.family.target != "needed":
                forced = checkpoint.family.forced_pass(checkpoint.config, ids, target)
                texts.append(Text(number, None if target is None else tuple(target), forced))
        return texts

    def _decode(
        self,
        sources: Mapping[int, Ids],
        targets: dict[int, list[int] | None],
        lines: Lines,
        portion: Portion,
    ) -> None:
        """Write the missing targets greedily."""
        left = [number for number in sources if targets[number] is None]

        def one_by_one(numbers: Iterable[int]) -> None:
            for number in in_steps(numbers, self._on_step):
                with portion.leaving_out(number):
                    tokens = decode(self._checkpoint, source_of(lines[number])).target
                    targets[number] = [token.id for token in tokens]

        if not left or not takes_batches(self._checkpoint):
            one_by_one(left)
            return
        every = of_like_length({n: sources[n] for n in left}, WIDER * self._batch)
        for some in in_steps(every, self._on_step):
            written = targets_of(self._checkpoint, {n: sources[n] for n in some})
            targets.update(written)
            one_by_one(n for n in some if n not in written)  # which says why


# survey(): what each head of a model does over many sentences.


@usual_state()
@checks(batch=COUNT, on_step=FUNCTION.or_none)
def survey(
    checkpoint: Checkpoint,
    sentences: Iterable[str],
    targets: Iterable[str] | None = None,
    batch: int = BATCH,
    on_step: OnStep | None = None,
) -> Survey:
    """Observe every head over these sentences, and summarise what it does.

    checkpoint: open, or its name or path.
    sentences: the texts that are read.
    targets: a text for each, where the model writes any; None: an encoder-decoder writes them
        greedily, and other models read the sentences by themselves.
    batch: sentences that are read together, where the model takes a mask of padding.
    on_step: called before each batch of at most `batch` sentences that is read, and where targets
        are written before each batch of these, which is larger, or each sentence; without
        arguments. It may wait, and what it raises ends the run. Texts of unlike lengths stand in
        batches of their own: how many there are is known when they are read.

    Returns a `Survey`: in `.heads`, for each head, the mean of each of its numbers with its 95 %
    interval over sentences, as `.heads[0].numbers["entropy"]`, in bits; `labels` says what heads
    do. A sentence that cannot be read is left out, and `left_out` says why. Raises CheckpointError,
    DeviceError, and InputError where no sentence can be read.

    >>> survey("en-de", sentences).heads[0].numbers["entropy"].mean  # doctest: +SKIP
    """
    check_open(checkpoint)
    lines = each_line("survey", "sentences", sentences)
    if targets is not None:
        written = each_line("survey", "targets", targets)
        if len(written) != len(lines):
            raise InputError(f"There are {len(lines)} sentences and {len(written)} targets.")
        lines = [f"{source}\t{target}" for source, target in zip(lines, written, strict=True)]
    surveyor = Surveyor(checkpoint, batch, counted(checkpoint, lines), on_step=on_step)
    portion = surveyor.survey(dict(enumerate(lines, 1)))
    if not portion.heads and portion.left_out:
        raise InputError(f"There is no sentence that can be surveyed: {portion.left_out[0]}")
    if not portion.heads:
        raise InputError("There is no sentence to survey: give at least one.")
    left_out = tuple(portion.left_out)
    return replace(summary(portion.heads, surveyor.why_alone), left_out=left_out)


def each_line(function: str, name: str, texts: Iterable[str]) -> list[str]:
    """Each text as a line. Raises InputError for one string, whose characters are no sentences."""
    every = items_of(texts)
    if every is None:
        raise InputError(f"{function} takes a list of {name}, which {quoted(texts)} is not.")
    for number, text in enumerate(every, 1):
        if not isinstance(text, str):
            raise InputError(f"Number {number} of the {name} is not a string: {quoted(text)}.")
    return [" ".join(text.split()) for text in every]


def refuse_precision(here: str, parts: str) -> None:
    """Refuse another precision than that of the parts. Raises DeviceError.

    A model may be asked for in another one than before, and where its weights do not fit what is
    free at the moment, it opens in half precision.
    """
    if here != parts:
        raise DeviceError(
            f"The model opens in {here} here, and the parts of this survey are in {parts}: set "
            f"{PRECISION}={parts}, or give --out another name."
        )


@dataclass(frozen=True)
class SurveyJob:
    """The survey of a file, a shard at a time: each becomes a part in a folder."""

    checkpoint: Path
    device: str | None
    folder: Path
    batch: int = BATCH
    counts: Mapping[int, int] | None = None
    """Token of a source -> how often the file has it; see `counted`."""
    trees: Mapping[int, Tree] | None = None
    """Number of a line, from 1 -> the tree of its source."""

    precision: str | None = None
    """The one that all parts are computed in; see `refuse_precision`."""

    def open(self) -> Work:
        """Open the checkpoint. Raises Refusal."""
        checkpoint = load_checkpoint(self.checkpoint, self.device)
        if self.precision is not None:
            refuse_precision(precision_of(checkpoint.model), self.precision)
        surveyor = Surveyor(checkpoint, self.batch, self.counts, self.trees)

        def work(shard: Shard) -> Done:
            lines = dict(enumerate(shard.lines, shard.first + 1))
            portion = surveyor.survey(lines)
            start = time.perf_counter()
            table = table_of(portion.heads, surveyor.why_alone, portion.left_out)
            write_part(table, self.folder, shard.number)
            portion.seconds["write"] += time.perf_counter() - start
            n_lines = len(shard.lines) - len(portion.left_out)
            left_out = tuple(portion.left_out)
            return Done(shard.number, n_lines, dict(portion.seconds), left_out)

        return work
