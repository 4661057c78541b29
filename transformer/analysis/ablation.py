"""Head ablation of one text: how likely its output stays, and what the model writes instead."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from transformer.analysis.sweep import Sweep, sweeping
from transformer.checkpoint import Checkpoint
from transformer.decoding.decode import decode
from transformer.edits.edit import Edit
from transformer.token import Token
from transformer.words import words_of


@dataclass(frozen=True)
class Ablation:
    """Every head off in turn, as far as that was tried."""

    sweep: Sweep
    written: Mapping[Edit, tuple[str, ...]] = field(default_factory=dict)
    """The words of the output when it is written again with the edit; of a classifier its class,
    of a masked model the words it finds most probable, of a vector or numbers none."""

    @property
    def is_measured(self) -> bool:
        """Tell whether every head's changes are there."""
        return len(self.sweep.edits) + len(self.sweep.refused) == self.sweep.n_asked

    @property
    def progress(self) -> tuple[int, int]:
        """Count the heads that are done, and all of them. Only words are written again."""
        output = self.sweep.output
        is_read = bool(output.classes or output.numbers or output.vector is not None)
        n_done = len(self.sweep.edits if is_read else self.written)
        return n_done + len(self.sweep.refused), self.sweep.n_asked

    @property
    def plain(self) -> list[str]:
        """The words without an edit, with which those that are written again are compared."""
        output = self.sweep.output
        if output.classes:
            return [output.classes[int(self.sweep.best)]]
        return words_of(output.likeliest or output.words)


def ablating(
    checkpoint: Checkpoint,
    text: str,
    target: Sequence[Token] | None = None,
    ablation: Ablation | None = None,
    on_step: Callable[[], object] | None = None,
    second: str = "",
    **options: Any,
) -> Iterator[Ablation]:
    """Measure the words' log-probabilities with every head off, then write each output again.

    Heads whose words lose most are written first. target: the output; None where the model only
    reads. ablation: what was tried before. on_step: called before each step of a decoding.
    second: as `sweep` takes it. options: of `decode`, whose method they name. Raises Refusal.
    """
    if ablation is None or not ablation.is_measured:
        for sweep in sweeping(checkpoint, text, target, second=second):
            ablation = Ablation(sweep)
            yield ablation
    assert ablation is not None
    for row in ablation.sweep.totals.argsort().tolist():
        edit = ablation.sweep.edits[row]
        if edit in ablation.written:
            continue
        words: tuple[str, ...]
        if target is None:
            words = _likeliest(checkpoint, ablation.sweep, row)
        else:
            again = decode(checkpoint, text, edits=(edit,), on_step=on_step, **options)
            words = tuple(words_of(again.target))
        ablation = replace(ablation, written={**ablation.written, edit: words})
        yield ablation


def _likeliest(checkpoint: Checkpoint, sweep: Sweep, row: int) -> tuple[str, ...]:
    """Say what a model that writes nothing finds most probable with an edit."""
    best = sweep.best_edited[row].tolist()
    if sweep.output.classes:
        return (sweep.output.classes[best[0]],)
    if sweep.output.vector is not None or sweep.output.numbers:
        return ()
    return tuple(words_of([checkpoint.tokenizer.token(id) for id in best]))
