"""Head ablation of one text: how likely its output stays, and what the model writes instead."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from transformer.analysis.output_change import words_of
from transformer.analysis.sweep import Sweep, sweeping
from transformer.checkpoint import Checkpoint
from transformer.decoding.decode import decode
from transformer.edits.edit import Edit
from transformer.tokenizer import Token


@dataclass(frozen=True)
class Ablation:
    """Every head off in turn, as far as that was tried."""

    sweep: Sweep
    written: Mapping[Edit, tuple[str, ...]] = field(default_factory=dict)
    """The words of the output when it is written again with the edit; of a classifier its class."""

    @property
    def is_measured(self) -> bool:
        """Whether every head's changes are there."""
        return len(self.sweep.edits) + len(self.sweep.refused) == self.sweep.n_asked

    @property
    def progress(self) -> tuple[int, int]:
        """How many heads are done, of how many."""
        return len(self.written) + len(self.sweep.refused), self.sweep.n_asked

    @property
    def plain(self) -> list[str]:
        """The words without an edit, with which those that are written again are compared."""
        if self.sweep.known.classes:
            return [self.sweep.known.classes[int(self.sweep.best)]]
        return words_of(self.sweep.target)


def ablating(
    checkpoint: Checkpoint,
    text: str,
    target: Sequence[Token] | None = None,
    known: Ablation | None = None,
    on_step: Callable[[], object] | None = None,
    **options: Any,
) -> Iterator[Ablation]:
    """Measure the words' log-probabilities with every head off, then write each output again.

    Heads whose words lose most are written first. target: the output; None where the model only
    reads. known: what was tried before. on_step: called before each step of a decoding. options:
    of `decode`, whose method they name. Raises Refusal.
    """
    if known is None or not known.is_measured:
        for sweep in sweeping(checkpoint, text, target):
            known = Ablation(sweep)
            yield known
    assert known is not None
    for row in known.sweep.totals.argsort().tolist():
        edit = known.sweep.edits[row]
        if edit in known.written:
            continue
        words: tuple[str, ...]
        if target is None:
            words = (known.sweep.known.classes[int(known.sweep.best_edited[row])],)
        else:
            again = decode(checkpoint, text, edits=(edit,), on_step=on_step, **options)
            words = tuple(words_of(again.target))
        known = replace(known, written={**known.written, edit: words})
        yield known
