"""The study of what each written word of an answer needs: for the card of a pinned one."""

from collections.abc import Iterator
from dataclasses import dataclass

from transformer.causes import Evidence
from transformer.causes.evidence import evidence_beside
from transformer.inputs import InputError
from transformer.words import word_groups
from viz.components.kit.picture import NothingLeft
from viz.run.batches import Runner
from viz.run.request import Answer, Request, answer
from viz.run.study import Study

MOST_WORDS = 30
"""Words of a text up to which a pin opens the card of a word; beyond, or where a model runs once
for each word, a button does."""


def is_quick(answer: Answer) -> bool:
    """Tell whether the causes of an answer's words are asked for without a button."""
    n = len(word_groups(answer.recording.source))
    return n <= MOST_WORDS and not answer.checkpoint.family.is_watched


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
