"""The study of a ladder: what each cut changes, from an arrow to the word deleted."""

from collections.abc import Iterator
from dataclasses import dataclass

from transformer.causes import Evidence
from transformer.causes.ladder import Rung, ladder, strongest_arrow
from transformer.recording import Recording
from transformer.words import word_at
from viz.run.batches import Runner
from viz.run.causes import Causes
from viz.run.request import Request, answer
from viz.run.study import Study
from viz.run.work import at_hand, finish
from viz.ui.causes.studies import in_a_sentence


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
        own = word_at(recording.target, self.step).number
        verdict = of.verdicts[own]
        if verdict.needs is not None and verdict.kind != "held by the prefix":
            return verdict.needs
        return int(of.hidden[own].argmax()) if verdict.looks_at is None else verdict.looks_at

    def n_read(self, value: Climbed) -> int:
        return value.n_read
