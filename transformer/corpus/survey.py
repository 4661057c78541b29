"""survey(): what each head of a model does over many sentences."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from transformer.checkpoint import Checkpoint, check_open
from transformer.corpus.shards import Shard, write_part
from transformer.corpus.summary import summary
from transformer.corpus.surveyed import Survey
from transformer.corpus.surveyor import BATCH, Surveyor, counted
from transformer.corpus.table import table_of
from transformer.corpus.trees import Tree
from transformer.device import PRECISION, DeviceError, precision_of
from transformer.engines.engine import Done, Work
from transformer.formats.opening import load_checkpoint
from transformer.inputs import InputError
from transformer.refusal import items_of, quoted


def survey(
    checkpoint: Checkpoint,
    sentences: Iterable[str],
    targets: Iterable[str] | None = None,
    batch: int = BATCH,
) -> Survey:
    """Observe every head over these sentences, and summarise what it does.

    targets: of each sentence, where the model writes any; without them it writes greedily. Batches
    of sentences are read together where the model takes a mask of padding. A sentence that cannot
    be read is left out, and `left_out` says why. Raises InputError where there is no other.
    """
    check_open(checkpoint)
    lines = _lines("sentences", sentences)
    if targets is not None:
        written = _lines("targets", targets)
        if len(written) != len(lines):
            raise InputError(f"There are {len(lines)} sentences and {len(written)} targets.")
        lines = [f"{source}\t{target}" for source, target in zip(lines, written, strict=True)]
    surveyor = Surveyor(checkpoint, batch, counted(checkpoint, lines))
    portion = surveyor.survey(dict(enumerate(lines, 1)))
    if not portion.heads and portion.left_out:
        raise InputError(f"There is no sentence that can be surveyed: {portion.left_out[0]}")
    if not portion.heads:
        raise InputError("There is no sentence to survey: give at least one.")
    left_out = tuple(portion.left_out)
    return replace(summary(portion.heads, surveyor.why_alone), left_out=left_out)


def _lines(name: str, texts: Iterable[str]) -> list[str]:
    """Each text as a line. Raises InputError for one string, whose characters are no sentences."""
    every = items_of(texts)
    if every is None:
        raise InputError(f"survey takes a list of {name}, which {quoted(texts)} is not.")
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
