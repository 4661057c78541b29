"""The studies of one written token, and of every head that is off while it is written."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from transformer.analysis.outputs.output import output_of
from transformer.analysis.scored import scored
from transformer.analysis.sweep import Sweep, sweeping
from transformer.causes.arrows import Arrows, arrows
from transformer.causes.direct import direct
from transformer.causes.forecast import Forecast, forecast
from transformer.inputs import InputError
from viz.components.kit.picture import NothingLeft
from viz.figures.causes.arrow_costs import N_STRONGEST
from viz.figures.causes.logit_parts import Parts
from viz.labels import in_place, in_word
from viz.run.batches import Runner
from viz.run.request import Request, answer
from viz.run.study import Study
from viz.run.work import finish


@dataclass(frozen=True)
class EachArrow(Study[Arrows]):
    """Every arrow of the row that writes a token, each cut by itself; of a model that runs as its
    own code says, the forecast of that.
    """

    request: Request
    step: int
    """The number of the token in the target."""

    def run(self, before: Arrows | None, runner: Runner) -> Iterator[Arrows]:
        """Raises NothingLeft for a model whose arrows cannot be cut so."""
        plain = answer(self.request, runner)
        at = self.request.text, plain.recording.target, self.step
        steps = runner.steps(plain.checkpoint.model)
        result: Arrows
        with steps.one(), in_a_sentence():
            if plain.checkpoint.family.is_watched:
                result = forecast(plain.checkpoint, *at)
            else:
                result = arrows(plain.checkpoint, *at, self.request.edits, steps.give_way)
        yield result

    def n_read(self, value: Arrows) -> int:
        """About: a row pass of 500 arrows costs as much as 8 texts."""
        if isinstance(value, Forecast):
            return 2
        n_cells = sum(each.numel() for each in value.costs.values())
        return n_cells // (1 if self.request.edits else 60)


@dataclass(frozen=True)
class CutArrows(Study[dict[str, float]]):
    """The arrows that a forecast puts first, each cut in a run of its own."""

    arrows: EachArrow

    def run(self, before: dict[str, float] | None, runner: Runner) -> Iterator[dict[str, float]]:
        """Costs by the spelling of the edit. Raises NothingLeft as the forecast does."""
        request, step = self.arrows.request, self.arrows.step
        plain, first = answer(request, runner), finish(self.arrows, runner)
        edits = [edit for _, edit in first.strongest(N_STRONGEST)]
        with in_a_sentence():
            output = output_of(plain.checkpoint, request.text, plain.recording.target)
            groups = [(), *((edit,) for edit in edits)]
            costs: dict[str, float] = {}
            parts = runner.steps(plain.checkpoint.model).of(
                scored(plain.checkpoint, output, groups)
            )
            whole = float(next(parts).log_probs[0, step])
            for edit, part in zip(edits, parts, strict=True):
                costs = costs | {str(edit): whole - float(part.log_probs[0, step])}
                yield costs

    def progress(self, value: dict[str, float]) -> tuple[int, int]:
        return len(value), N_STRONGEST

    def n_read(self, value: dict[str, float]) -> int:
        return len(value)


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
        logits = recording.logits[-len(recording.target) :][self.step].float().cpu().clone()
        logits[recording.target[self.step].id] = -torch.inf
        runner_up = plain.checkpoint.tokenizer.token(int(logits.argmax()))
        with runner.steps(plain.checkpoint.model).one(), in_a_sentence():
            logit, lead = (direct(plain.checkpoint, *at, it) for it in (None, runner_up.id))
        token = in_word(recording.target, self.step)
        yield Parts(logit, lead, token, in_place(recording.target[: self.step], runner_up))

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
