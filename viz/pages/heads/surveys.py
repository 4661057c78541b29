"""The atlas of a checkpoint: of the survey in its folder, or of one that is made on screen."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from transformer.checkpoint import Checkpoint, shipped_path
from transformer.corpus.atlas import Atlas
from transformer.corpus.shipped import FILE, FOLDER, shipped_survey, write_shipped
from transformer.corpus.shipping import Gathered, sentences_for, shipping, with_card
from transformer.fingerprint import fingerprint
from transformer.recording.data import Numbering
from transformer.refusal import Refusal
from viz.run.batches import Runner
from viz.run.keep import keep
from viz.run.request import Request, open_checkpoint
from viz.run.settings import is_public
from viz.run.study import Study

STEP = 4
"""Sentences of a step: others wait for the end of one."""


def atlas_of(request: Request, numbering: Numbering = ()) -> Atlas | None:
    """The atlas of a checkpoint's own survey; None where it has none. Raises Refusal.

    numbering: that of a recording of the checkpoint.
    """
    folder = shipped_path(request.checkpoint)
    try:
        written = (folder / FOLDER / FILE).stat().st_mtime_ns
    except OSError:
        return None
    return _read(folder, request.version, written, numbering)


@keep(8, "Reading the survey")
def _read(folder: Path, version: int, written: int, numbering: Numbering) -> Atlas | None:
    """version, written: of the weights, and of the survey; others are another atlas."""
    shipped = shipped_survey(folder)
    return None if shipped is None else Atlas(shipped, numbering)


@dataclass(frozen=True)
class HeadSurvey(Study[Gathered]):
    """The survey of a checkpoint that has none, over the sentences that come with us."""

    checkpoint: str
    version: int

    @classmethod
    def of(cls, request: Request) -> "HeadSurvey":
        """The survey of the checkpoint that a request is for."""
        return cls(request.checkpoint, request.version)

    def run(self, before: Gathered | None, runner: Runner) -> Iterator[Gathered]:
        checkpoint = open_checkpoint(Request(self.checkpoint, self.version, "", "none"))
        steps, so_far = runner.steps(checkpoint.model), before
        for so_far in steps.of(shipping(checkpoint, sentences_for(checkpoint), before, STEP)):
            yield so_far
        if so_far is not None and not is_public():
            keep_on_disk(checkpoint, so_far)

    def progress(self, value: Gathered) -> tuple[int, int]:
        return value.n_done, value.n_lines

    def n_read(self, value: Gathered) -> int:
        return value.n_done


def keep_on_disk(checkpoint: Checkpoint, gathered: Gathered) -> None:
    """Write a whole survey beside the weights, where that is allowed; else it stays in memory."""
    try:
        of = fingerprint(checkpoint.path)
        if of:
            shipped = with_card(gathered.shipped, checkpoint.name, of, "the page Heads")
            write_shipped(checkpoint.path / FOLDER, shipped, of)
    except (Refusal, OSError):
        return


@lru_cache(maxsize=8)
def atlas_so_far(gathered: Gathered, numbering: Numbering) -> Atlas:
    """The atlas of a survey as far as it is, made once of each."""
    return Atlas(gathered.shipped, numbering)
