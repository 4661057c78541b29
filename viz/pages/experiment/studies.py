"""The studies of Experiment: heads off, pairs of them, heads over sentences, and patches."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from transformer.analysis.ablation import Ablation, ablating
from transformer.analysis.corpus_sweep import sweep_sentences
from transformer.analysis.patching import Patching, patching
from transformer.analysis.synergy import Synergy, pairs_of, strongest
from transformer.analysis.tables.sweep_table import Line
from transformer.checkpoint import Checkpoint
from transformer.inputs import InputError
from viz.run.batches import Runner
from viz.run.request import Request, answer, open_checkpoint
from viz.run.study import Study
from viz.run.work import finish, latest


@dataclass(frozen=True)
class HeadAblation(Study[Ablation]):
    """Every head off in the answer to a request."""

    request: Request
    second: str = ""
    """A text whose vector is compared with that of the request; empty: none is."""

    def run(self, before: Ablation | None, runner: Runner) -> Iterator[Ablation]:
        request, plain = self.request, answer(self.request, runner)
        target = plain.recording.target if plain.decoding is not None else None
        options: dict[str, Any] = {"method": request.method, **dict(request.options)}
        options |= request.decided
        steps = runner.steps(plain.checkpoint.model)
        choices = (request.text, target, before, steps.give_way, self.second)
        yield from steps.of(ablating(plain.checkpoint, *choices, **options))

    def progress(self, value: Ablation) -> tuple[int, int]:
        return value.progress

    def n_read(self, value: Ablation) -> int:
        """Outputs that were written again; a class is known without that."""
        return 0 if value.sweep.output.classes else len(value.written)


@dataclass(frozen=True)
class HeadPairs(Study[Synergy]):
    """Pairs of the n heads that are worth most."""

    request: Request
    n: int
    second: str = ""
    """The same as HeadAblation's."""

    def run(self, before: Synergy | None, runner: Runner) -> Iterator[Synergy]:
        heads = HeadAblation(self.request, self.second)
        ablation = latest(heads)
        if ablation is None or not ablation.is_measured:
            ablation = finish(heads, runner)
        sweep, checkpoint = ablation.sweep, answer(self.request, runner).checkpoint
        pairs = pairs_of(checkpoint, sweep, strongest(sweep, self.n))
        yield from runner.steps(checkpoint.model).of(pairs)

    def progress(self, value: Synergy) -> tuple[int, int]:
        return len(value.pairs), value.n_asked


@dataclass(frozen=True)
class HeadsOverSentences(Study[list[Line]]):
    """Every head off in each of several sentences. A request for the checkpoint: of no text."""

    request: Request
    sentences: tuple[str, ...]

    @classmethod
    def of(cls, request: Request, sentences: tuple[str, ...]) -> "HeadsOverSentences":
        """The study of the checkpoint that a request is for."""
        plain = Request(request.checkpoint, request.version, "", "none")
        choices = {name: getattr(request, name) for name in ("languages", "chat", "pair")}
        return cls(replace(plain, **choices), sentences)

    def run(self, before: list[Line] | None, runner: Runner) -> Iterator[list[Line]]:
        checkpoint = open_checkpoint(self.request)
        lines = _lines(checkpoint, self.sentences, before or [])
        yield from runner.steps(checkpoint.model).of(lines)

    def progress(self, value: list[Line]) -> tuple[int, int]:
        return n_done(value), len(self.sentences)

    def n_read(self, value: list[Line]) -> int:
        return n_done(value)


def n_done(lines: Sequence[Line]) -> int:
    """Sentences."""
    return len({line.sentence for line in lines})


def _lines(
    checkpoint: Checkpoint, sentences: tuple[str, ...], before: list[Line]
) -> Iterator[list[Line]]:
    """Raises InputError where none of the sentences can be read."""
    left_out: list[str] = []
    numbered = dict(enumerate(sentences, 1))
    for lines in sweep_sentences(checkpoint, numbered, before, say=left_out.append):
        if lines:
            yield lines
    if left_out and len(left_out) == len(sentences):
        raise InputError(f"None of the sentences can be swept: {left_out[0]}")


@dataclass(frozen=True)
class Patches(Study[Patching]):
    """States and heads of another sentence, each put into the run of a request."""

    request: Request
    other: str

    def run(self, before: Patching | None, runner: Runner) -> Iterator[Patching]:
        checkpoint = answer(self.request, runner).checkpoint
        patches = patching(checkpoint, self.other, self.request.text, before)
        yield from runner.steps(checkpoint.model).of(patches)

    def progress(self, value: Patching) -> tuple[int, int]:
        return len(value.effects), len(value.edits)
