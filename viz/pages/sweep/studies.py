"""The studies of Sweep: heads off, pairs, sentences; and the question before a sweep."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from transformer.analysis.ablation import (
    Ablation,
    Synergy,
    ablating,
    pairs_of,
    strongest,
    sweeping,
)
from transformer.analysis.corpus_sweep import sweep_sentences
from transformer.analysis.patching import Patching, patching
from transformer.analysis.tables import Line
from transformer.checkpoint import Checkpoint
from transformer.decoding.decode import decode
from transformer.edits import Edit
from transformer.inputs import InputError
from viz.app_packages import st
from viz.components.kit.sync import guarded
from viz.labels import counted
from viz.page_fields import ExperimentFields
from viz.run.line import Runner
from viz.run.request import Request, answer, open_checkpoint
from viz.run.work import Study, at_hand, finish, latest
from viz.screen import FIRST_PAGE, Screen, choose
from viz.state.page import Pane
from viz.state.state import change
from viz.ui.progress import paid

# The studies of Sweep: heads off, pairs of them, heads over sentences, and patches.


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
        patches = patching(checkpoint, self.request.text, self.other, before)
        yield from runner.steps(checkpoint.model).of(patches)

    def progress(self, value: Patching) -> tuple[int, int]:
        return len(value.effects), len(value.edits)


# The question before a sweep: it takes long, so it begins when somebody asks for it.

TRIED = 0.25
"""Seconds after which enough heads were tried to know how long one takes."""
BEGIN = "Begin the sweep: {runs}, {time}"
ROUND = (1, 2, 5, 10, 15, 20, 30, 45, 60)
"""Seconds that are said; more is said in minutes."""
SAID = (*ROUND, *range(2 * ROUND[-1], 31 * ROUND[-1], ROUND[-1]))
"""The same where a page without a server says them, up to half an hour."""


@dataclass(frozen=True)
class FirstHeads(Study[tuple[float, float]]):
    """The seconds that one head takes: to be off in a forced pass, and until all is written anew.

    They are measured here and now, as a machine may be slow, or busy.
    """

    request: Request

    def run(
        self, before: tuple[float, float] | None, runner: Runner
    ) -> Iterator[tuple[float, float]]:
        plain = answer(self.request, runner)
        checkpoint, text = plain.checkpoint, self.request.text
        target = plain.recording.target if plain.decoding is not None else None
        options = dict[str, Any](self.request.options) | self.request.decided
        steps, written = runner.steps(checkpoint.model), 0.0
        with steps.one():
            begun = time.perf_counter()
            sweep = next(sweeping(checkpoint, text, target))
            read = (time.perf_counter() - begun) / (1 + len(sweep.edits))
            begun = time.perf_counter()
            for n, edit in enumerate(sweep.edits if target is not None else (), 1):
                decode(checkpoint, text, self.request.method, edits=(edit,), **options)
                written = (time.perf_counter() - begun) / n
                if written * n >= TRIED:
                    break
        yield read, written


def asks(pane: Pane, study: Study[Any]) -> bool:
    """Tell whether somebody asked for it, by a click or a link; else draw the button by which it
    begins, and say about how long it takes. What is at hand needs no asking, nor do pairs, which
    are chosen; and whoever opens a scene of a story asks for what it shows.
    """
    own = pane.screen.of(ExperimentFields)
    is_chosen = isinstance(study, HeadPairs) or pane.screen.story is not None
    if own.sweep_asked or is_chosen or at_hand(study) is not None:
        return True
    measured = paid(FirstHeads(pane.answer.request), st.empty())
    if measured is None:
        return False
    attentions, (read, written) = pane.recording.attentions.values(), measured
    n = n_heads = sum(each.n_layers * each.n_heads for each in attentions)
    takes = n_heads * (read + written)
    if isinstance(study, HeadsOverSentences):  # none is written again
        n = n_heads * len(study.sentences)
        is_part = pane.checkpoint.family.continues  # what it writes was read with the text
        beside = pane.answer.decoding.text if is_part and pane.answer.decoding is not None else ""
        length = len(pane.answer.request.text + beside)
        takes = n_heads * read * sum(map(len, study.sentences)) / max(1, length)
    begin = guarded(lambda: change(sweep_asked=True))
    runs = counted(n, "run", "runs")
    st.button(BEGIN.format(runs=runs, time=about_time(takes)), on_click=begin)
    return False


def about_time(seconds: float) -> str:
    """Say a time in round numbers.

    >>> about_time(0.2), about_time(17), about_time(200)
    ('about 1 second', 'about 15 seconds', 'about 3 minutes')
    """
    if seconds <= ROUND[-1]:
        nearest = min(ROUND, key=lambda each: abs(each - seconds))
        return f"about {counted(nearest, 'second', 'seconds')}"
    return f"about {counted(round(seconds / 60), 'minute', 'minutes')}"


# The heads of an experiment on Explore.


def on_explore(screen: Screen, *edits: Edit) -> Screen:
    """The heads that are off, and what the model writes then."""
    screen = choose(screen, page=FIRST_PAGE, edits=tuple(map(str, edits)), tool="heads")
    first = edits[0]
    return replace(screen, kind=first.place, layer=first.layer, head=first.head)
