"""A sweep of what is on screen: how likely its words are, and what the model writes instead."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from transformer import decode
from transformer.analysis.output_change import words_of
from transformer.analysis.sweep import Sweep, sweeping
from transformer.edits import Edit
from viz.run.long_work import go_on
from viz.run.request import Answer


@dataclass(frozen=True)
class Swept:
    """What is known of a sweep."""

    found: Sweep
    written: Mapping[Edit, tuple[str, ...]] = field(default_factory=dict)
    """The words of the output when it is written again with the edit; of a classifier its class."""

    @property
    def is_measured(self) -> bool:
        """Whether every head's changes are known."""
        found = self.found
        return len(found.edits) + len(found.refused) == found.n_asked

    @property
    def far(self) -> tuple[int, int]:
        """How many heads are done, of how many."""
        return len(self.written) + len(self.found.refused), self.found.n_asked


def sweep_of(shown: Answer, before: Swept | None) -> Iterator[Swept]:
    """Every head off: the words' log-probabilities first, then each output written again.

    Those heads first whose words lose most. Raises Refusal.
    """
    request, recording = shown.request, shown.recording
    if before is None or not before.is_measured:
        target = recording.target if shown.decoding is not None else None
        for found in sweeping(shown.checkpoint, request.text, target):
            before = Swept(found)
            yield before
    assert before is not None
    known = before
    for row in known.found.totals.argsort().tolist():
        edit = known.found.edits[row]
        if edit not in known.written:
            words = _class(known, row) if shown.decoding is None else _rewritten(shown, edit)
            known = replace(known, written={**known.written, edit: words})
            yield known


def _class(known: Swept, row: int) -> tuple[str, ...]:
    return (known.found.known.classes[int(known.found.best_edited[row])],)


def _rewritten(shown: Answer, edit: Edit) -> tuple[str, ...]:
    request = shown.request
    options: dict[str, Any] = dict(request.options)
    told: dict[str, Any] = {"edits": (edit,), "on_step": go_on}
    decoding = decode(shown.checkpoint, request.text, request.method, **told, **options)
    return tuple(words_of(decoding.target))


def plain_words(shown: Answer, found: Sweep) -> list[str]:
    """The words without an edit, which those that are written again are compared with."""
    if found.known.classes:
        return [found.known.classes[int(found.best)]]
    return words_of(found.target)
