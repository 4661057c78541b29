"""The studies of one written token, and of every head that is off while it is written."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from transformer.analysis.sweep import Sweep, sweeping
from transformer.causes.arrows import Arrows, arrows
from transformer.causes.direct import direct
from transformer.inputs import InputError
from viz.components.kit.picture import NothingLeft
from viz.figures.causes.logit_parts import Parts
from viz.run.batches import Runner
from viz.run.request import Request, answer
from viz.run.study import Study


@dataclass(frozen=True)
class EachArrow(Study[Arrows]):
    """Every arrow of the row that writes a token, each cut by itself."""

    request: Request
    step: int
    """The number of the token in the target."""

    def run(self, before: Arrows | None, runner: Runner) -> Iterator[Arrows]:
        """Raises NothingLeft for a model whose arrows cannot be cut so."""
        plain = answer(self.request, runner)
        at = self.request.text, plain.recording.target, self.step, self.request.edits
        with runner.steps(plain.checkpoint.model).one(), in_a_sentence():
            result = arrows(plain.checkpoint, *at)
        yield result

    def n_read(self, value: Arrows) -> int:
        """About: a row pass of 500 arrows costs as much as 8 texts."""
        n_cells = sum(each.numel() for each in value.costs.values())
        return n_cells // (1 if self.request.edits else 60)


@dataclass(frozen=True)
class LogitParts(Study[Parts]):
    """The parts of the decoder, by what each adds to the logit of a token."""

    request: Request
    step: int
    """The same as EachArrow's."""

    def run(self, before: Parts | None, runner: Runner) -> Iterator[Parts]:
        """Raises NothingLeft for a model whose sums are not known."""
        plain = answer(self.request, runner)
        recording = plain.recording
        at = self.request.text, recording.target, self.step
        others = recording.logits[-len(recording.target) :][self.step].float().cpu().clone()
        others[recording.target[self.step].id] = -torch.inf
        runner_up = plain.checkpoint.tokenizer.token(int(others.argmax()))
        with runner.steps(plain.checkpoint.model).one(), in_a_sentence():
            logit, lead = (direct(plain.checkpoint, *at, it) for it in (None, runner_up.id))
        yield Parts(logit, lead, runner_up)

    def n_read(self, value: Parts) -> int:
        return 2


@dataclass(frozen=True)
class HeadsOff(Study[Sweep]):
    """Each head off, for every written word of the model without edits; nothing is decoded."""

    request: Request

    def run(self, before: Sweep | None, runner: Runner) -> Iterator[Sweep]:
        """Raises NothingLeft where the text cannot be judged."""
        plain = answer(self.request, runner)
        sweeps = sweeping(plain.checkpoint, self.request.text, plain.recording.target)
        with in_a_sentence():
            yield from runner.steps(plain.checkpoint.model).of(sweeps)

    def progress(self, value: Sweep) -> tuple[int, int]:
        return len(value.edits) + len(value.refused), value.n_asked

    def n_read(self, value: Sweep) -> int:
        return len(value.edits)


@contextmanager
def in_a_sentence() -> Iterator[None]:
    """Raise NothingLeft where what is inside raises InputError."""
    try:
        yield
    except InputError as error:
        raise NothingLeft(str(error)) from error
