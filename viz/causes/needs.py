"""The studies of what each written word needs, and of the right word in its place."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from transformer.analysis.needed import Head
from transformer.causes import Evidence
from transformer.causes.contrast import Contrast, contrast
from transformer.causes.evidence import evidence_beside
from transformer.causes.repairs import Repairs, repairing
from transformer.inputs import InputError
from viz.components.kit.picture import NothingLeft
from viz.labels import counted
from viz.run.line import Runner
from viz.run.request import Answer, Request, answer
from viz.run.work import Study, finish

# The study of what each written word of an answer needs: for the card of a pinned one.

MOST_WORDS = 30
"""Words of a text up to which a pin opens the card of a word; beyond, or where a model runs once
for each word, a button does."""


def is_quick(answer: Answer) -> bool:
    """Tell whether the causes of an answer's words are asked for without a button."""
    is_short = len(answer.recording.source_words) <= MOST_WORDS
    return is_short and not answer.checkpoint.family.is_watched


def hiding(answer: Answer) -> str:
    """Say what the button does."""
    n = counted(len(answer.recording.source_words), "word", "words")
    return f"Every word of the text is hidden in turn ({n})"


@dataclass(frozen=True)
class Causes(Study[Evidence]):
    """Each word of a request's text hidden in turn, over what is written without that."""

    request: Request

    def run(self, before: Evidence | None, runner: Runner) -> Iterator[Evidence]:
        """Raises NothingLeft for a model, or under edits, whose words cannot be hidden."""
        request, plain = self.request, answer(self.request, runner)
        steps = runner.steps(plain.checkpoint.model)
        inputs = plain.checkpoint, request.text, plain.recording, request.edits
        with steps.one():
            try:
                result = evidence_beside(*inputs, on_step=steps.give_way)
            except InputError as error:
                raise NothingLeft(str(error)) from error
        yield result

    def n_read(self, value: Evidence) -> int:
        """Each word of the text hidden and cut off, and each written one replaced."""
        n = len(value.source_words)
        return n + (n if value.cut is not None else 0) + len(value.target_words)


# The studies of the right word in the place of a written one: its contrast, and its repairs.

Methods = tuple[tuple[str, tuple[tuple[str, Any], ...]], ...]
"""Decoding methods, by their names, each with its options."""


@dataclass(frozen=True)
class RightWord(Study[Contrast]):
    """Another word in the place of a written one: its rank, and what speaks for either."""

    request: Request
    word: int
    """The number of the written word."""
    other: str

    def run(self, before: Contrast | None, runner: Runner) -> Iterator[Contrast]:
        """Raises NothingLeft for what is no other word, or a model whose words cannot be hidden."""
        plain, request = answer(self.request, runner), self.request
        evidence = finish(Causes(request), runner)
        inputs = plain.checkpoint, request.text, plain.recording.target, self.word, self.other
        steps = runner.steps(plain.checkpoint.model)
        with steps.one():
            try:
                result = contrast(*inputs, request.edits, steps.give_way, evidence)
            except InputError as error:
                raise NothingLeft(str(error)) from error
        yield result

    def n_read(self, value: Contrast) -> int:
        """Each word of the text hidden and cut off, and each written one replaced."""
        return 2 * len(value.source_words) + len(value.prefix_words)


@dataclass(frozen=True)
class FindRepairs(Study[Repairs]):
    """Changes after which the decoding of a request writes another word, one after the other."""

    request: Request
    word: int
    other: str
    others: Methods = ()
    """The options of the other methods, by their names: those that keeping one leads to."""
    heads: tuple[Head, ...] | None = None
    """The heads whose rows may change; None: all of cross-attention, of a generator all."""

    def run(self, before: Repairs | None, runner: Runner) -> Iterator[Repairs]:
        """Raises NothingLeft for what is no other word."""
        request, plain = self.request, answer(self.request, runner)
        steps = runner.steps(plain.checkpoint.model)
        recording = plain.recording
        at = plain.checkpoint, request.text, recording.target, self.word, self.other
        decided = request.decided_before(recording.target_words[self.word].positions[0])
        options = dict(request.options) | decided
        values = repairing(
            *(*at, request.method, options, request.edits, steps.give_way, before),
            others={method: dict(options) | decided for method, options in self.others},
            heads=self.heads,
        )
        try:
            yield from steps.of(values)
        except InputError as error:
            raise NothingLeft(str(error)) from error

    def progress(self, value: Repairs) -> tuple[int, int]:
        return value.n_decoded, value.n_to_decode

    def n_read(self, value: Repairs) -> int:
        """Each change read twice for a forecast, in batches, and some of them decoded."""
        return 2 * value.n_changes + 10 * value.n_decoded
