"""The study of a ladder: what each cut changes, from an arrow to the word deleted."""

from collections.abc import Iterator
from dataclasses import dataclass

from transformer.causes import Evidence, evidence
from transformer.causes.ladder import Rung, ladder, strongest_arrow
from transformer.recording import Recording
from transformer.words import word_groups
from viz.run.batches import Runner
from viz.run.causes import Causes
from viz.run.request import Request, answer
from viz.run.study import Study
from viz.run.work import at_hand
from viz.ui.causes.studies import in_a_sentence


@dataclass(frozen=True)
class Climb(Study[tuple[Rung, ...]]):
    """A ladder of cuts from an arrow of the row that writes a token to a word that is read."""

    request: Request
    step: int
    word: int | None = None
    """One of the source's words; None: the one that is needed, else the one that is looked at."""

    def run(self, before: tuple[Rung, ...] | None, runner: Runner) -> Iterator[tuple[Rung, ...]]:
        """Raises NothingLeft where no word can be cut off."""
        plain, edits = answer(self.request, runner), self.request.edits
        recording, text = plain.recording, self.request.text
        at_once = at_hand(Causes(self.request))
        with runner.steps(plain.checkpoint.model).one(), in_a_sentence():
            word = self.word
            if word is None:
                of = at_once or evidence(plain.checkpoint, text, recording.target, edits)
                word = self._word(of, recording)
            arrow = strongest_arrow(recording, self.step, word)
            rungs = ladder(plain.checkpoint, text, recording.target, arrow, edits)
        yield rungs

    def _word(self, of: Evidence, recording: Recording) -> int:
        groups = word_groups(recording.target)
        own = next(i for i, group in enumerate(groups) if self.step in group)
        verdict = of.verdicts[own]
        if verdict.needs is not None and verdict.kind != "prefix":
            return verdict.needs
        return int(of.hidden[own].argmax()) if verdict.looks_at is None else verdict.looks_at

    def n_read(self, value: tuple[Rung, ...]) -> int:
        """Each rung."""
        return len(value)
