"""Studies of one written token: of heads that are off, ladders, and lenses of costs."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import torch

from transformer.analysis.ablation import Sweep, sweeping
from transformer.analysis.reading import lenses
from transformer.analysis.scored import output_of, scored
from transformer.causes import Evidence
from transformer.causes.arrows import Arrows, Forecast, arrows, forecast
from transformer.causes.direct import direct
from transformer.causes.ladder import Rung, ladder, strongest_arrow
from transformer.inputs import InputError
from transformer.recording import Recording
from transformer.refusal import Refusal
from viz.app_packages import st
from viz.causes.needs import Causes, hiding, is_quick
from viz.causes.right_word_tables import Parts
from viz.causes.tables import N_STRONGEST
from viz.components.head_grid.head_grid import WORTH, Worth
from viz.components.kit.picture import NothingLeft
from viz.labels import in_place, in_word, word_text
from viz.run.line import Runner
from viz.run.request import Request, answer
from viz.run.work import Study, at_hand, finish
from viz.state.focus import pinned_target
from viz.state.page import Pane
from viz.state.state import change, note
from viz.ui.progress import finished_for, grow

# The studies of one written token, and of every head that is off while it is written.


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
            parts = runner.steps(plain.checkpoint.model).of(
                scored(plain.checkpoint, output, groups)
            )
            log_probs: list[float] = []  # the first is of the run as it is
            for part in parts:
                log_probs += part.log_probs[:, step].tolist()
                costs = (log_probs[0] - each for each in log_probs[1:])
                yield dict(zip(map(str, edits), costs, strict=False))

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
        logits = (
            recording.require_logits()[-len(recording.target) :][self.step].float().cpu().clone()
        )
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


# The study of a ladder: what each cut changes, from an arrow to the word deleted.


@dataclass(frozen=True)
class Climbed:
    """A ladder, and what it took."""

    rungs: tuple[Rung, ...]
    n_read: int
    """Texts that were read for it: its rungs, and the evidence where that was not there yet."""


@dataclass(frozen=True)
class Climb(Study[Climbed]):
    """A ladder of cuts from an arrow of the row that writes a token to a word that is read."""

    request: Request
    step: int
    word: int | None = None
    """One of the source's words; None: the one that is needed, else the one that is looked at."""

    def run(self, before: Climbed | None, runner: Runner) -> Iterator[Climbed]:
        """Raises NothingLeft where no word can be cut off."""
        plain, edits = answer(self.request, runner), self.request.edits
        recording, text = plain.recording, self.request.text
        word, n_read = self.word, 0
        if word is None:
            causes = Causes(self.request)
            is_there = at_hand(causes) is not None
            evidence = finish(causes, runner)
            word = self._word(evidence, recording)
            n_read = 0 if is_there else causes.n_read(evidence)
        steps = runner.steps(plain.checkpoint.model)
        with steps.one(), in_a_sentence():
            arrow = strongest_arrow(recording, self.step, word)
            at = plain.checkpoint, text, recording.target, arrow
            rungs = ladder(*at, edits, on_step=steps.give_way)
        yield Climbed(rungs, n_read + len(rungs))

    def _word(self, of: Evidence, recording: Recording) -> int:
        own = recording.target_words.at(self.step).number
        verdict = of.verdicts[own]
        if verdict.needs is not None and verdict.kind != "held by the prefix":
            return verdict.needs
        return int(of.hidden[own].argmax()) if verdict.looks_at is None else verdict.looks_at

    def n_read(self, value: Climbed) -> int:
        return value.n_read


# The worth of each head to a pinned word, for the grid: asked for where the grid shows it.


def head_worth(pane: Pane, is_live: bool) -> Worth | None:
    """The numbers of the pinned word as far as they are at hand.

    None: no word is pinned, a lens shows no heads, or the model is changed: what a head is worth is
    of the model as it is.
    is_live: they are offered before they are known.
    """
    place = pinned_target(pane)
    if place is None or pane.answer.request.edits or not lenses()[pane.reading.lens].per_head:
        return None
    own = pane.recording.target_words.at(place)
    word = word_text(own.tokens)
    sweep = at_hand(HeadsOff(pane.answer.request)) if _is_asked(pane) else None
    if sweep is None:
        return Worth(word) if is_live else None
    costs = (-sweep.changes[:, list(own.positions)].sum(-1)).tolist()
    places = [(edit.place, *edit.numbers) for edit in sweep.edits]
    tried = dict(zip(places, costs, strict=True))
    numbers = []
    for kind, attention in pane.recording.attentions.items():
        heads = [(i, j) for i in range(attention.n_layers) for j in range(attention.n_heads)]
        numbers.append((kind, tuple(tried.get((kind, *head), float("nan")) for head in heads)))
    return Worth(word, tuple(numbers))


def watch_worth(pane: Pane) -> None:
    """Begin what the grid shows, and say how far it is."""
    if not _is_asked(pane) or pane.request != pane.answer.request:
        return
    try:
        grow(HeadsOff(pane.answer.request), lambda sweep: None)
    except (Refusal, NothingLeft) as reason:
        note(reason)


def finish_worth(pane: Pane) -> Sweep | None:
    """The same for who waits to the end: a figure, a wall."""
    try:
        return finished_for(HeadsOff(pane.answer.request)) if _is_asked(pane) else None
    except (Refusal, NothingLeft):
        return None


def _is_asked(pane: Pane) -> bool:
    is_chosen = WORTH in (pane.screen.show, pane.screen.sort)
    return is_chosen and not pane.answer.request.edits and pinned_target(pane) is not None


# Lenses of what is written: the costs that they show, which a study finds for the recording.


def with_costs(pane: Pane, is_watched: bool = False) -> Pane:
    """The pane whose recording has what the chosen lens shows; the same where it shows no costs.

    While the study goes on, or where it is refused, the page says so, and pictures show weights.
    is_watched: whether the card does so already, which draws the page anew in the end.
    """
    if not _shows_costs(pane) or pane.request != pane.answer.request:
        return pane
    study = Causes(pane.answer.request)
    evidence = at_hand(study)
    if is_watched:
        return pane if evidence is None else _with(pane, evidence)
    if evidence is None and not (pane.screen.why or is_quick(pane.answer)):
        help = f"{hiding(pane.answer)}; until then, weights are shown."
        st.button("Find the costs", on_click=change, kwargs={"why": True}, help=help)
        return pane
    try:
        work = grow(study, lambda evidence: None)
    except (Refusal, NothingLeft) as reason:
        note(reason)
        return pane
    return _with(pane, work.result()) if work.is_whole else pane


def finished_costs(pane: Pane) -> Pane:
    """The same for who waits to the end: a figure, a wall."""
    if not _shows_costs(pane):
        return pane
    try:
        return _with(pane, finished_for(Causes(pane.answer.request)))
    except (Refusal, NothingLeft):
        return pane


def awaits_costs(pane: Pane) -> bool:
    """Tell whether a pane of `with_costs` lacks the costs that its lens shows."""
    return _shows_costs(pane) and pane.recording.hidden is None


def _shows_costs(pane: Pane) -> bool:
    has_cross = "cross" in pane.recording.attentions and bool(pane.recording.target)
    return has_cross and lenses()[pane.reading.lens].of_output


def _with(pane: Pane, evidence: Evidence) -> Pane:
    recording = replace(pane.recording, hidden=evidence.hidden)
    return replace(pane, result=replace(pane.answer, recording=recording))
