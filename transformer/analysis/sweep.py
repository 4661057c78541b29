"""sweep(): what each head is worth to each word of an output, every head off in turn."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from transformer.analysis.outputs.output import Output, compared, output_of
from transformer.analysis.scored import Scored, scored
from transformer.checkpoint import Checkpoint
from transformer.editing.ours import places
from transformer.edits.edit import Edit, EditError
from transformer.edits.spelling import edits_of
from transformer.recording.ours import record
from transformer.token import Token


@dataclass(frozen=True, eq=False)
class Sweep:
    """The effect of each of N edits on each of T words of a known output. Tensors are on the CPU.

    Of a classifier, on each of its C classes: T is then C; so it is of C numbers, whose changes are
    in units of their own and do not add up. Of a text's vector T is 1, and a change is minus the
    angle by which the vector turns, in degrees; with a second text the change of the cosine of
    both, read under the same edit.
    """

    edits: tuple[Edit, ...]
    output: Output
    log_probs: Tensor
    """[T] of the words as the model gives them without any of the edits, in nats; of numbers
    themselves; of a vector 0, or its cosine with that of a second text."""
    changes: Tensor
    """[N, T]: log-probability with the edit less that without it."""
    best: Tensor
    """[T] the most probable token's id without an edit; of a classifier [1], the class."""
    best_edited: Tensor
    """[N, T]: with it. Where it differs, greedy decoding would write another word."""
    n_asked: int
    """Edits that were to be tried."""
    refused: tuple[str, ...] = ()
    """The reasons why some of them are not among `edits`."""
    number: str = ""
    """The one of several numbers that stands for the whole output; empty: the most changed one."""

    @property
    def target(self) -> tuple[Token, ...]:
        return self.output.words

    @property
    def totals(self) -> Tensor:
        """[N]: of the whole output, the sum over its words; of a classifier, of the class that it
        finds most probable without an edit; of several numbers, of one.
        """
        return self.totalled(self.changes)

    @property
    def judged_number(self) -> str:
        """The number that stands for the whole output; empty where none is put on the text."""
        numbers = self.output.numbers
        if not numbers or self.number in numbers:
            return self.number if numbers else ""
        return numbers[int(self.changes.abs().sum(0).argmax())]

    def totalled(self, changes: Tensor) -> Tensor:
        """The same of other changes [..., T] of this output: [...]."""
        if self.output.numbers:
            return changes[..., self.output.numbers.index(self.judged_number)]
        return changes[..., int(self.best)] if self.output.classes else changes.sum(-1)


def heads_off(checkpoint: Checkpoint, judged: Output | None = None) -> tuple[Edit, ...]:
    """One edit for each head: kind by kind, layer by layer.

    judged: of a model that is watched, what it runs over: its heads are those that are then seen.
    """
    config: Any = checkpoint.config
    if checkpoint.family.is_watched:
        assert judged is not None
        seen = record(checkpoint, judged.source, judged.target).attentions
        sizes = {kind: (each.n_layers, each.n_heads) for kind, each in seen.items()}
    else:
        stacks = places(checkpoint.model, checkpoint.family)
        sizes = {kind: (len(layers), config.n_heads) for kind, layers in stacks.items()}
    return tuple(
        Edit("head-off", kind, (layer, head))
        for kind, (n_layers, n_heads) in sizes.items()
        for layer in range(n_layers)
        for head in range(n_heads)
    )


def sweep(
    checkpoint: Checkpoint,
    source: str,
    target: str | Sequence[Token] | None = None,
    edits: Sequence[Edit | str] | None = None,
    second: str = "",
) -> Sweep:
    """Try edits one by one on a source and its known target; None: every head off.

    target: None where a text is only read: the words of a generator's text, each given those
    before it, a classifier's classes, numbers, a masked model's tokens, or a text's vector. second:
    a text whose vector's cosine with it is judged in place of its angle. Of
    heads and arrows; positions are of a whole run. Raises InputError, of an edit EditError.
    """
    *_, last = sweeping(checkpoint, source, target, edits, second)
    if last.refused and not last.edits:
        raise EditError(last.refused[0])
    return last


def sweeping(
    checkpoint: Checkpoint,
    source: str,
    target: str | Sequence[Token] | None = None,
    edits: Sequence[Edit | str] | None = None,
    second: str = "",
) -> Iterator[Sweep]:
    """The same while it grows: of models of ours in batches, of others edit by edit."""
    judged = compared(output_of(checkpoint, source, target), second)
    tried = heads_off(checkpoint, judged) if edits is None else edits_of(edits)
    groups: list[tuple[Edit, ...]] = [(), *((edit,) for edit in tried)]
    results: list[Scored] = []
    for some in scored(checkpoint, judged, groups):
        results.append(some)
        yield _sweep(judged, tried, results)


def _sweep(judged: Output, tried: Sequence[Edit], results: Sequence[Scored]) -> Sweep:
    """Gather what is known after some of the groups, the first of which changes nothing."""
    log_probs = torch.cat([each.log_probs for each in results])
    best = torch.cat([each.best for each in results])
    was_tried = [not each.refused for each in results for _ in each.log_probs]
    is_there = torch.tensor(was_tried[1:], dtype=torch.bool)
    done = zip(tried, is_there.tolist(), strict=False)
    return Sweep(
        edits=tuple(edit for edit, is_it in done if is_it),
        output=judged,
        log_probs=log_probs[0],
        changes=log_probs[1:][is_there] - log_probs[0],
        best=best[0],
        best_edited=best[1:][is_there],
        n_asked=len(tried),
        refused=tuple(why for each in results for why in each.refused),
    )
